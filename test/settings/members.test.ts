import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, inject, test } from 'vitest';
import { useWorld } from '../world.ts';
import { password, signIn, unknownEmail, visit } from './visiting.ts';

const world = useWorld();
const program = fileURLToPath(new URL('../../server/main.ts', import.meta.url));

async function members(input: string, ...words: string[]): Promise<{ status: unknown; out: string; err: string }> {
  const env = { ...process.env, DATABASE_URL: inject('databaseUrl'), PUBLIC_URL: world.url };
  const child = spawn(process.execPath, [program, 'members', ...words], { env });
  const closed = once(child, 'close');
  child.stdin.end(input);
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [status] = await closed;
  return { status, out, err };
}

const adding = (slug: string, email: string) => [
  'add',
  '--organization',
  slug,
  '--email',
  email,
  '--name',
  'Ann',
  '--role',
  'admin',
];

describe('the members command', () => {
  test('prints a link on which a new member chooses a password', async () => {
    const { organization } = await world.organization();
    const email = unknownEmail();
    const { status, out } = await members('', ...adding(organization.slug, email), '--json');
    const { passwordLink, ...row } = JSON.parse(out);
    expect([status, row]).toEqual([0, { id: expect.stringMatching(/^mem_/), email, name: 'Ann', role: 'admin' }]);
    expect(passwordLink).toMatch(new RegExp(`^${world.url}/settings/password\\?token=[\\w-]{32}$`));
    expect((await visit(world.url).get(passwordLink.slice(world.url.length))).text).toContain(email);
    expect((await members('', 'password', email)).out).toContain(`${world.url}/settings/password?token=`);
  });

  test('takes a password from standard input, and prints none', async () => {
    const { organization, admin } = await world.organization();
    const email = unknownEmail();
    const added = await members(`${password}\n`, ...adding(organization.slug, email), '--password-stdin');
    expect(added).toMatchObject({ status: 0, err: '', out: expect.stringContaining('The password is set.') });
    expect(added.out).not.toContain(password);
    await signIn(world, { ...admin, email });
    expect((await members('another horse altogether', 'password', email, '--password-stdin', '--json')).status).toBe(0);
    expect(
      (await visit(world.url).post('/settings/sign-in', { email, password: 'another horse altogether' })).status,
    ).toBe(303);
  });

  test('adds nobody with a password that cannot be', async () => {
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
