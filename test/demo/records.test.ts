import { describe, expect, test } from 'vitest';
import { eventTimes, proposalStatuses } from '../../contract/proposals.ts';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { moveDates } from '../../server/demo/dates.ts';
import { CsvReader } from '../../server/import/csv.ts';

const moments = [
  '2026-01-01T00:00:00.000Z',
  '2026-02-28T23:59:59.999Z',
  '2028-02-29T12:00:00.000Z',
  '2026-11-20T06:30:00.000Z',
];
const month = 30 * 86_400_000;

const fileOf = (name: string, moment: string) =>
  moveDates(readFileSync(new URL(`../../server/demo/${name}`, import.meta.url), 'utf8'), Date.parse(moment));
const cells = z.record(z.string(), z.string());
const instant = z.string().nullable().default(null);
const proposalRow = z.looseObject({
  number: z.string(),
  title: z.string(),
  status: z.enum(proposalStatuses),
  statusChangedAt: z.string(),
  createdAt: z.string(),
  sentAt: instant,
  viewedAt: instant,
  acceptedAt: instant,
  declinedAt: instant,
  expiredAt: instant,
  canceledAt: instant,
  expiresAt: instant,
  publicUrl: instant,
  customerExternalId: instant,
  acceptedBy: z.object({ name: z.string() }).nullable().default(null),
  lineItems: z.array(
    z.looseObject({
      itemExternalId: z.string().nullable().default(null),
      unitPrice: z.string(),
      discountAmount: z.string().default('0'),
      taxRate: z.string().default('0'),
      optional: z.boolean().default(false),
      selected: z.boolean().default(true),
    }),
  ),
});

/** The demo's files as imported at this moment. */
function demoAt(moment: string) {
  const csv = (name: string) => {
    const [header = [], ...rows] = new CsvReader(',').read(fileOf(name, moment), true).map((record) => {
      if ('fault' in record) throw new Error(record.fault);
      return record.cells;
    });
    return rows.map((row) => cells.parse(Object.fromEntries(header.map((column, index) => [column, row[index]]))));
  };
  const lines = fileOf('proposals.jsonl', moment).trim().split('\n');
  return {
    customers: csv('customers.csv'),
    items: csv('items.csv'),
    proposals: lines.map((line) => proposalRow.parse(JSON.parse(line))),
  };
}

describe.each(moments)('a demo created at %s', (moment) => {
  const { items, customers, proposals: records } = demoAt(moment);

  test('has the events of every proposal in order', () => {
    for (const { number, status, createdAt, statusChangedAt, ...times } of records) {
      const { sentAt, viewedAt, acceptedAt, declinedAt, expiredAt, canceledAt } = times;
      const happened = [
        createdAt,
        sentAt,
        viewedAt,
        acceptedAt ?? declinedAt ?? expiredAt ?? canceledAt,
        moment,
      ].filter((time) => time !== null);
      expect(happened, number).toEqual(happened.toSorted());
      expect(statusChangedAt, number).toBe(status === 'draft' ? createdAt : times[`${status}At`]);
      const ends = eventTimes.filter((name) => name !== 'sentAt' && name !== 'viewedAt' && times[name] !== null);
      expect(ends, number).toEqual(['draft', 'sent', 'viewed'].includes(status) ? [] : [`${status}At`]);
    }
  });

  test('has no open proposal past its expiry, and no expired one before it', () => {
    for (const { number, status, sentAt, expiresAt, acceptedAt, publicUrl, acceptedBy } of records) {
      expect([expiresAt === null, publicUrl === null], number).toEqual([sentAt === null, sentAt === null]);
      if (expiresAt === null) continue;
      expect(expiresAt > (acceptedAt ?? sentAt ?? ''), number).toBe(true);
      if (status === 'sent' || status === 'viewed') expect(expiresAt > moment, number).toBe(true);
      if (status === 'expired') expect(expiresAt < moment, number).toBe(true);
      expect(acceptedBy !== null, number).toBe(status === 'accepted');
    }
  });

  test('spreads proposals over eighteen months, after their customers and items, with increasing numbers', () => {
    const since = new Map([...customers, ...items].map(({ externalId, createdAt }) => [externalId, createdAt]));
    for (const { number, createdAt, customerExternalId, lineItems } of records) {
      for (const id of [customerExternalId, ...lineItems.map(({ itemExternalId }) => itemExternalId)]) {
        if (id !== null) expect((since.get(id) ?? '9') <= createdAt, number).toBe(true);
      }
    }
    expect(records.map(({ number }) => number)).toEqual(
      records.toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : 1)).map(({ number }) => number),
    );
    const months = new Set(
      records.map(({ createdAt }) => Math.floor((Date.parse(moment) - Date.parse(createdAt)) / month)),
    );
    expect(months.size).toBeGreaterThan(14);
  });

  test('has lines of every kind: catalog and free, discounted, credits, optional, left out; one to eight per proposal', () => {
    const lines = records.flatMap(({ lineItems }) => lineItems);
    const sorts: Record<string, (line: (typeof lines)[number]) => boolean> = {
      catalog: ({ itemExternalId }) => itemExternalId !== null,
      free: ({ itemExternalId }) => itemExternalId === null,
      discounted: ({ discountAmount }) => Number(discountAmount) > 0,
      credit: ({ unitPrice }) => unitPrice.startsWith('-'),
      taxed: ({ taxRate }) => Number(taxRate) > 0,
      'left out': ({ optional, selected }) => optional && !selected,
      chosen: ({ optional, selected }) => optional && selected,
    };
    for (const [name, isOne] of Object.entries(sorts)) expect(lines.filter(isOne).length, name).toBeGreaterThan(4);
    expect([...new Set(records.map(({ lineItems }) => lineItems.length))].toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test('has no customer or item from the future', () => {
    for (const { createdAt = '' } of [...customers, ...items])
      expect([createdAt, moment]).toEqual([createdAt, moment].toSorted());
  });

  test('differs from every other demo only in its dates', () => {
    const undated = (made: ReturnType<typeof demoAt>) =>
      JSON.stringify(made).replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '');
    expect(undated(demoAt('2027-07-04T08:15:00.000Z'))).toBe(undated(demoAt(moment)));
  });
});
