import { afterAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { attemptLimits } from '../../server/accounts/attempts.ts';
import { removeMember } from '../../server/accounts/members.ts';
import { resetHours } from '../../server/accounts/password-links.ts';
import { createMailer, mailLimits, mailOptions } from '../../server/outgoing/mail.ts';
import { publicId } from '../../server/records/public-id.ts';
import { runCommand } from '../command.ts';
import { useWorld } from '../world.ts';
import { startEndlessMailServer, startMailServer } from './providers.ts';
import { password, signIn, someone, unknownEmail, visit } from './visiting.ts';
import type { World } from '../world.ts';

const server = await startMailServer();
const mail = { url: server.url, from: 'Acme <api@acme.example>' };
const world = useWorld({ mail });
const broken = useWorld({ mail: { url: 'smtp://127.0.0.1:1', from: 'api@acme.example' } });
const endless = await startEndlessMailServer();
const waiting = useWorld({ mail: { ...mail, url: endless.url } });
const without = useWorld({ trustedProxies: 1 });

afterAll(() => {
  endless.close();
  return server.close();
});

async function invite(where: World, email: string) {
  const tenant = await where.organization({ name: 'Acme' });
  const visiting = await signIn(where, await someone(where, tenant, 'admin', 'Ann Lee'));
  return visiting.submit('/settings/members', { name: 'Jo Kim', email, role: 'member' });
}
const linkIn = (text = '') => /\/settings\/password\?token=[\w-]{32}/.exec(text)?.[0];
const received = (email: string) => server.mails.filter(({ to }) => to.includes(email));
const forgot = (where: World, email: string) => visit(where.url).post('/settings/forgot-password', { email });

test('the sender is MAIL_FROM, or else no-reply at the host of PUBLIC_URL', () => {
  const senderWith = (variables: { MAIL_FROM?: string; PUBLIC_URL?: string }) =>
    mailOptions({ SMTP_URL: server.url, MAIL_FROM: undefined, PUBLIC_URL: undefined, ...variables })?.from;
  const url = { PUBLIC_URL: 'https://api.acme.example:8443' };
  expect(senderWith({ ...url, MAIL_FROM: mail.from })).toBe(mail.from);
  expect(senderWith(url)).toBe('Proposal API <no-reply@api.acme.example>');
  expect(senderWith({})).toBe('Proposal API <no-reply@localhost>');
});

describe('an invitation', () => {
  test('is mailed to one address, with the same link as on the page', async () => {
    const email = unknownEmail();
    const invited = await invite(world, email);
    expect(invited.status).toBe(201);
    expect(invited.text).toContain('We also sent it by email.');
    const [sent] = received(email);
    expect(sent).toMatchObject({ from: 'api@acme.example', to: [email] });
    expect(sent?.text).toContain('Subject: Ann Lee invited you to Acme');
    expect(sent?.text).toMatch(/^Auto-Submitted: auto-generated$/m);
    expect(linkIn(sent?.text)).toBe(linkIn(invited.text));
  });

  test('cannot be used to flood a mailbox: an address gets five an hour, and the page still has the link', async () => {
    const tenant = await world.organization({ name: 'Acme' });
    const visiting = await signIn(world, await someone(world, tenant, 'admin'));
    const member = await someone(world, tenant);
    await signIn(world, member);
    const again = async () => (await visiting.submit(`/settings/members/${publicId('member', member.id)}/link`)).text;
    for (let count = 0; count < attemptLimits.mail.most; count += 1)
      expect(await again()).toContain('We also sent it by email.');
    const last = await again();
    expect(last).toContain('so we did not send another');
    expect((await visit(world.url).get(linkIn(last) ?? '')).status).toBe(200);
    expect(received(member.email)).toHaveLength(attemptLimits.mail.most);
    expect(received(member.email)[0]?.text).toContain('Subject: Choose a new password for Acme');
    // Other organizations can still invite the member, who can still ask for a link.
    const other = await invite(world, member.email);
    expect(other.text).toContain('We also sent it by email.');
    await forgot(world, member.email);
    await expect.poll(() => received(member.email).length).toBe(attemptLimits.mail.most + 2);
  });

  test('that cannot be mailed still adds the member and shows the link', async () => {
    const invited = await invite(broken, unknownEmail());
    expect(invited.status).toBe(201);
    expect(invited.text).toContain('We could not email it');
    expect((await visit(broken.url).get(linkIn(invited.text) ?? '')).status).toBe(200);
    const message = expect.stringContaining('ECONNREFUSED');
    expect(broken.log).toContainEqual(
      expect.objectContaining({ error: expect.objectContaining({ name: 'MailError', message }) }),
    );
  });
});

test('a mail that was sent leaves no timer, which would keep a command running', async () => {
  const [started, ended] = [vi.spyOn(globalThis, 'setInterval'), vi.spyOn(globalThis, 'clearInterval')];
  onTestFinished(() => void vi.restoreAllMocks());
  const withinMs = 77_777;
  await createMailer(mail).send({ to: unknownEmail(), subject: '', text: '' }, withinMs);
  const own = started.mock.calls.findIndex(([, ms]) => ms === withinMs);
  expect(ended.mock.calls.flat()).toContain(started.mock.results[own]?.value);
});

describe('a mail server that rejects an address', () => {
  test('is logged without the address', async () => {
    const email = unknownEmail();
    server.reject(email);
    const invited = await invite(world, email);
    expect(invited.text).toContain('We could not email it');
    const logged = JSON.stringify(world.log);
    expect(logged).toContain('550 <…> is nobody here');
    expect(logged).not.toContain(email);
  });
});

describe('a mail server that never finishes a response', () => {
  test('is given up after a while, and its connection is closed', async () => {
    const sending = createMailer({ ...mail, url: endless.url }).send(
      { to: unknownEmail(), subject: '', text: '' },
      100,
    );
    await expect(sending).rejects.toThrow('The mail server did not accept the mail within 0.1 seconds.');
    await expect.poll(() => endless.connections()).toBe(0);
  });

  test('is given up before the response with the link is due', async () => {
    const { pageMs } = mailLimits;
    mailLimits.pageMs = 100;
    onTestFinished(() => void (mailLimits.pageMs = pageMs));
    const invited = await invite(waiting, unknownEmail());
    expect(invited).toMatchObject({ status: 201, text: expect.stringContaining('We could not email it') });
    expect(linkIn(invited.text)).toBeDefined();
  });
});

describe('members add', () => {
  const add = (where: World, slug: string, email: string, variables: NodeJS.ProcessEnv, typed?: string) =>
    runCommand(
      `members add --organization ${slug} --email ${email} --role member --name JoKimberley${typed === undefined ? '' : ' --password-stdin'}`.split(
        ' ',
      ),
      { DATABASE_URL: inject('databaseUrl'), PUBLIC_URL: where.url, ...variables },
      typed,
    );

  test('prints the link, and also emails it if there is a mail server', async () => {
    const { slug } = (await world.organization({ name: 'Acme' })).organization;
    const email = unknownEmail();
    const { status, out, err } = await add(world, slug, email, { SMTP_URL: server.url });
    expect([status, err.trim()]).toEqual([0, `The link was also sent to ${email}.`]);
    const [sent] = received(email);
    expect(sent?.text).toContain('Subject: The operator of this service invited you to Acme');
    expect(linkIn(out)).toBeDefined();
    expect(linkIn(sent?.text)).toBe(linkIn(out));

    const other = unknownEmail();
    const failed = await add(world, slug, other, { SMTP_URL: 'smtp://127.0.0.1:1' });
    expect([failed.status, linkIn(failed.out) !== undefined]).toEqual([0, true]);
    expect(failed.err).toContain(`The link could not be sent to ${other}: MailError: connect ECONNREFUSED`);
  });

  test('rejects a password that others could guess from the name or the organization', async () => {
    const { slug } = (await world.organization({ name: 'Larkmoor' })).organization;
    const email = unknownEmail();
    for (const guessable of ['JoKimberley1!', 'larkmoor2026!', email]) {
      const { status, err } = await add(world, slug, email, {}, guessable);
      expect([guessable, status === 0, err]).toEqual([guessable, false, expect.stringContaining('cannot be used')]);
    }
    expect((await add(world, slug, email, {}, password)).status).toBe(0);
  });
});

describe('a password reset', () => {
  test('gets the same response for a member and an unknown address, and only the member gets mail', async () => {
    const member = await someone(world, await world.organization());
    const stranger = unknownEmail();
    const [known, unknown] = [await forgot(world, member.email), await forgot(world, stranger)];
    expect(known.status).toBe(200);
    expect(known.text.replaceAll(member.email, '')).toBe(unknown.text.replaceAll(stranger, ''));
    await expect.poll(() => received(member.email).length).toBe(1);
    expect(received(stranger)).toEqual([]);
    expect(received(member.email)[0]?.text).toContain(`Choose it within ${resetHours} hour:`);
    const link = linkIn(received(member.email)[0]?.text) ?? '';
    const [, token = ''] = link.split('token=');
    const visiting = visit(world.url);
    expect((await visiting.post('/settings/password', { token, password: 'another horse altogether' })).status).toBe(
      303,
    );
    expect((await visit(world.url).post('/settings/sign-in', { email: member.email, password })).status).toBe(422);
  });

  test('sends nothing to a removed member', async () => {
    const tenant = await world.organization();
    const member = await someone(world, tenant);
    await removeMember(tenant.em(), null, member);
    await forgot(world, member.email);
    const after = await someone(world, tenant);
    await forgot(world, after.email);
    await expect.poll(() => received(after.email).length).toBe(1);
    expect(received(member.email)).toEqual([]);
  });

  test('without a mail server gets the same response for a member, an admin and an unknown address', async () => {
    const tenant = await without.organization();
    const member = await someone(without, tenant, 'member', 'Ida Berg');
    const told = await Promise.all(
      [member.email, tenant.admin.email, tenant.admin.email.toUpperCase(), unknownEmail()].map(async (email) =>
        (await forgot(without, email)).text.replaceAll(email, ''),
      ),
    );
    expect(told[0]).toContain('Ask an admin of your organization');
    expect(new Set(told).size).toBe(1);
  });

  test('sends at most five mails an hour to one address, no matter who asks', async () => {
    const member = await someone(world, await world.organization());
    for (let count = 0; count < attemptLimits.mail.most + 2; count += 1) {
      await world.database.pool.query(`delete from sign_in.attempts where key like 'reset %'`);
      expect((await forgot(world, count % 2 ? member.email : member.email.toUpperCase())).status).toBe(200);
    }
    const marker = await someone(world, await world.organization());
    await forgot(world, marker.email);
    await expect.poll(() => received(marker.email).length).toBe(1);
    expect(received(member.email)).toHaveLength(attemptLimits.mail.most);
  });

  test('can be requested at most ten times from one network', async () => {
    const from = (address: string) =>
      visit(without.url, { 'x-forwarded-for': address }).post('/settings/forgot-password', { email: unknownEmail() });
    for (let count = 0; count < 10; count += 1) expect((await from('198.51.100.203')).status).toBe(200);
    const { status, headers } = await from('198.51.100.203');
    const wait = Number(headers.get('retry-after'));
    expect([status, wait > 0 && wait <= attemptLimits.reset.seconds]).toEqual([429, true]);
    expect((await from('198.51.100.7')).status).toBe(200);
  });
});
