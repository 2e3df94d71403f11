import { describe, expect, test } from 'vitest';
import { eventTimes } from '../../contract/proposals.ts';
import { makeCustomers } from '../../server/demo/customers.ts';
import { diceOf } from '../../server/demo/dice.ts';
import { makeItems } from '../../server/demo/items.ts';
import { makeProposals } from '../../server/demo/proposals.ts';

const moments = [
  '2026-01-01T00:00:00.000Z',
  '2026-02-28T23:59:59.999Z',
  '2028-02-29T12:00:00.000Z',
  '2026-11-20T06:30:00.000Z',
];
const month = 30 * 86_400_000;

function demoAt(moment: string, seed = 58) {
  const nowMs = Date.parse(moment);
  const items = makeItems(nowMs, diceOf(seed));
  const customers = makeCustomers(nowMs, diceOf(seed));
  const owners = [{ name: 'Ann', email: null }];
  return { items, customers, proposals: makeProposals({ customers, items, owners }, nowMs, diceOf(seed)) };
}

describe.each(moments)('a demo made at %s', (moment) => {
  const { items, customers, proposals } = demoAt(moment);
  const records = proposals.map(({ record }) => record);

  test('says of every proposal what happened in the order in which it happened', () => {
    for (const { number, status, createdAt, updatedAt, statusChangedAt, ...times } of records) {
      const { sentAt, viewedAt, acceptedAt, declinedAt, expiredAt, canceledAt } = times;
      const happened = [
        createdAt,
        sentAt,
        viewedAt,
        acceptedAt ?? declinedAt ?? expiredAt ?? canceledAt,
        updatedAt,
        moment,
      ].filter((time) => time !== null);
      expect(happened, number).toEqual(happened.toSorted());
      expect(statusChangedAt, number).toBe(status === 'draft' ? createdAt : times[`${status}At`]);
      const ends = eventTimes.filter((name) => name !== 'sentAt' && name !== 'viewedAt' && times[name] !== null);
      expect(ends, number).toEqual(['draft', 'sent', 'viewed'].includes(status) ? [] : [`${status}At`]);
    }
  });

  test('lets no offer stand after its end, nor end one that is open', () => {
    for (const { number, status, sentAt, expiresAt, acceptedAt, publicUrl, acceptedBy } of records) {
      expect([expiresAt === null, publicUrl === null], number).toEqual([sentAt === null, sentAt === null]);
      if (expiresAt === null) continue;
      expect(expiresAt > (acceptedAt ?? sentAt ?? ''), number).toBe(true);
      if (status === 'sent' || status === 'viewed') expect(expiresAt > moment, number).toBe(true);
      if (status === 'expired') expect(expiresAt < moment, number).toBe(true);
      expect(acceptedBy !== null, number).toBe(status === 'accepted');
    }
  });

  test('spreads them over eighteen months, after their customers and items, with growing numbers', () => {
    const since = new Map(
      [...customers.map(({ record }) => record), ...items].map(({ id, createdAt }) => [id, createdAt]),
    );
    for (const { record, lines } of proposals) {
      for (const id of [record.customerId, ...lines.map(({ itemId }) => itemId)]) {
        if (id !== null) expect((since.get(id) ?? '9') <= record.createdAt, record.number).toBe(true);
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

  test('has lines of every sort: catalog and free, discounted, credits, optional, left out, from one to eight', () => {
    const lines = proposals.flatMap((made) => made.lines);
    const sorts: Record<string, (line: (typeof lines)[number]) => boolean> = {
      catalog: ({ itemId }) => itemId !== null,
      free: ({ itemId }) => itemId === null,
      discounted: ({ discountAmount }) => Number(discountAmount) > 0,
      credit: ({ unitPrice }) => unitPrice.startsWith('-'),
      taxed: ({ taxAmount }) => Number(taxAmount) > 0,
      'left out': ({ optional, selected }) => optional && !selected,
      chosen: ({ optional, selected }) => optional && selected,
    };
    for (const [name, isOne] of Object.entries(sorts)) expect(lines.filter(isOne).length, name).toBeGreaterThan(4);
    expect([...new Set(records.map(({ lineItemCount }) => lineItemCount))].toSorted()).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8,
    ]);
  });

  test('changed no customer and no item before it was made, nor after now', () => {
    for (const { createdAt, updatedAt } of [...customers.map(({ record }) => record), ...items]) {
      expect([createdAt, updatedAt, moment]).toEqual([createdAt, updatedAt, moment].toSorted());
    }
  });

  test('has the names and amounts of every other demo', () => {
    const facts = (made: ReturnType<typeof demoAt>) => [
      made.customers.map(({ record: { name, phone, taxId, tags, notes, metadata } }) => ({
        name,
        phone,
        taxId,
        tags,
        notes,
        metadata,
      })),
      made.items.map(({ name, sku, unitPrice, imageUrl }) => ({ name, sku, unitPrice, imageUrl })),
      made.proposals.map(({ record: { number, title, status, total, publicUrl } }) => ({
        number,
        title,
        status,
        total,
        publicUrl,
      })),
    ];
    expect(facts(demoAt('2027-07-04T08:15:00.000Z'))).toEqual(facts({ items, customers, proposals }));
    expect(facts(demoAt(moment, 2))).not.toEqual(facts({ items, customers, proposals }));
  });
});
