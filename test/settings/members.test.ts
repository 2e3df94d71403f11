import { describe, expect, inject, test } from 'vitest';
import { runCommand } from '../command.ts';
import { useWorld } from '../world.ts';
import { auditLog, password, passwordPath, signIn, someone, unknownEmail, visit } from './visiting.ts';

const world = useWorld();

const members = (input: string, ...words: string[]) => command(input, 'members', ...words);

const command = (input: string, ...words: string[]) =>
  runCommand(words, { DATABASE_URL: inject('databaseUrl'), PUBLIC_URL: world.url }, input);

const adding = (slug: string, email: string) =>
  `add --organization ${slug} --email ${email} --name Ann --role admin`.split(' ');

describe('the members command', () => {
  test('prints a link with which a new member sets a password', async () => {
    const { organization } = await world.organization();
    const email = unknownEmail();
    const { status, out } = await members('', ...adding(organization.slug, email), '--json');
    const { passwordLink, ...row } = JSON.parse(out);
    expect([status, row]).toEqual([0, { id: expect.stringMatching(/^mem_/), email, name: 'Ann', role: 'admin' }]);
    expect(passwordLink).toMatch(new RegExp(`^${world.url}/settings/password\\?token=[\\w-]{32}$`));
    expect((await visit(world.url).get(passwordLink.slice(world.url.length))).text).toContain(email);
    expect((await members('', 'password', email)).out).toContain(`${world.url}/settings/password?token=`);
  });

  test('reads a password from standard input, and does not print it', async () => {
    const tenant = await world.organization({ name: 'Larkmoor Studio' });
    const { organization, admin } = tenant;
    const email = unknownEmail();
    const added = await members(`${password}\r\n`, ...adding(organization.slug, email), '--password-stdin');
    expect(added).toMatchObject({ status: 0, err: '', out: expect.stringContaining('The password is set.') });
    expect(added.out).not.toContain(password);
    await signIn(world, { ...admin, email });
    expect((await members('another horse altogether', 'password', email, '--password-stdin', '--json')).status).toBe(0);
    expect(
      (await visit(world.url).post('/settings/sign-in', { email, password: 'another horse altogether' })).status,
    ).toBe(303);
    for (const known of [email, 'larkmoorstudio12']) {
      const { err } = await members(`${known}\n`, 'password', email, '--password-stdin');
      expect(err).toContain('Do not base the password on your email, your name or your organization.');
    }
    await members('', 'password', email);
    expect(await auditLog(world, tenant)).toEqual(['key_created test', 'password_changed', 'password_link_issued']);
  });

  test('adds no one with an invalid password', async () => {
    const { organization } = await world.organization();
    const email = unknownEmail();
    const refused = await members('short\n', ...adding(organization.slug, email), '--password-stdin');
    expect(refused).toEqual({
      status: 1,
      out: '',
      err: 'error: The password on standard input cannot be used. Use at least 12 characters.\n',
    });
    expect(await members('', 'password', email)).toMatchObject({
      status: 1,
      err: `error: ${email} is not a member of any organization\n`,
    });
  });
});

describe('the commands', () => {
  test('list members, change a role, remove a member, and keep the last admin', async () => {
    const tenant = await world.organization();
    const { slug } = tenant.organization;
    const bo = await someone(world, tenant, 'member');
    const changed = await members('', 'role', bo.email, 'admin', '--json');
    expect(JSON.parse(changed.out)).toMatchObject({ email: bo.email, role: 'admin' });
    const visiting = await signIn(world, bo);
    const link = await passwordPath(world.database, bo);
    const listed = JSON.parse((await members('', 'list', '--organization', slug, '--json')).out);
    expect(listed.map(({ email, canSignIn }: { email: string; canSignIn: boolean }) => [email, canSignIn])).toEqual([
      [tenant.admin.email, false],
      [bo.email, true],
    ]);
    expect(await members('', 'remove', bo.email)).toMatchObject({
      status: 0,
      out: expect.stringContaining('Removed Bo'),
    });
    expect((await visiting.get('/settings/api-keys')).status).toBe(303);
    // Also one that is issued at the same time.
    for (const path of [link, await passwordPath(world.database, bo)])
      expect((await visit(world.url).get(path)).status).toBe(410);
    expect(await members('', 'remove', tenant.admin.email)).toMatchObject({
      status: 1,
      err: 'error: Ann is the only admin. Make another member an admin first.\n',
    });
  });

  test('rename and replace a key, rename an organization, and print the version', async () => {
    const tenant = await world.organization();
    const { slug } = tenant.organization;
    const by = ['--organization', slug, '--by', tenant.admin.email.toUpperCase()];
    const listed = async () => JSON.parse((await command('', 'keys', 'list', '--organization', slug, '--json')).out);
    const [{ id }] = await listed();
    expect(await command('', 'keys', 'rename', id, ...by, '--name', 'Nightly')).toMatchObject({ status: 0 });
    const replaced = await command('', 'keys', 'replace', id, ...by, '--keep', 'day');
    expect(replaced).toMatchObject({ status: 0, err: expect.stringContaining('works until') });
    expect((await tenant.as(replaced.out.trim()).call('GET', '/v1/me')).body.key.name).toBe('Nightly');
    expect((await tenant.call('GET', '/v1/me')).status).toBe(200);
    expect((await listed()).map(({ endsAt }: { endsAt: string | null }) => endsAt !== null)).toEqual([false, true]);
    await command('', 'keys', 'revoke', id, ...by);
    expect((await command('', 'keys', 'list', '--organization', slug)).out).toMatch(
      /Nightly .* active *\n.*Nightly .* revoked /,
    );
    const bo = await someone(world, tenant, 'admin');
    await members('', 'remove', bo.email);
    expect(
      await command('', 'keys', 'create', '--organization', slug, '--by', bo.email, '--name', 'Later'),
    ).toMatchObject({ status: 1, err: `error: ${bo.email} is not a member of this organization\n` });
    const renamed = await command('', 'organizations', 'rename', slug, '--name', 'Acme Two', '--json');
    expect(JSON.parse(renamed.out)).toMatchObject({ slug, name: 'Acme Two' });
    expect((await command('', '--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
