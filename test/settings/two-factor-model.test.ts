/** Codes of two people, entered in any order at two processes, compared with a model of which codes were used. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { attemptLimits } from '../../server/accounts/attempts.ts';
import type { Member } from '../../server/entities/organization.ts';
import { useWorld } from '../world.ts';
import { codeAt, password, signIn, someone, turnOnTwoFactor, visit } from './visiting.ts';
import type { TwoFactorSetUp } from './visiting.ts';

const stepMs = 30_000;
let nowMs = Date.parse('2026-11-22T12:00:00Z');
const process = { now: () => nowMs, authSecret: 's'.repeat(32) };
const processes = [useWorld(process), useWorld(process)] as const;
const [world] = processes;

type Person = TwoFactorSetUp & {
  member: Member;
  /** The key under which the database counts guesses. */
  countedAs: string;
  /** The latest code that was accepted. */
  lastCode: string;
  /** The step of the latest code that was accepted. */
  lastStep: number;
  usedCodes: Set<string>;
  /** Since the latest accepted code. */
  guesses: number;
};

async function person(): Promise<Person> {
  const member = await someone(world, await world.organization());
  const setUp = await turnOnTwoFactor(await signIn(world, member), nowMs);
  const app = 'select two_factor_id as id from sign_in.two_factor_members where member_id = $1';
  const { rows } = await world.database.pool.query<{ id: string }>(app, [member.id]);
  const [lastStep, lastCode] = [Math.floor(nowMs / stepMs), codeAt(setUp.secret, nowMs)];
  const countedAs = `code ${rows[0]?.id} unknown`;
  return { ...setUp, member, countedAs, lastStep, lastCode, usedCodes: new Set(), guesses: 0 };
}

/** The service's response in a browser that has never signed in. */
async function statusOf({ member }: Person, code: string, { url }: { url: string }): Promise<number> {
  const visiting = visit(url);
  await visiting.post('/settings/sign-in', { email: member.email, password });
  return (await visiting.post('/settings/sign-in/code', { code })).status;
}

/** The response that the model expects; an accepted code counts as used from then on. */
function expected(who: Person, code: string, isAccepted: () => boolean): number {
  who.guesses += 1;
  if (who.guesses > attemptLimits.code.most) return 429;
  if (!isAccepted()) return 422;
  who.guesses = 0;
  who.lastCode = code;
  return 303;
}

const entering = { who: fc.nat(1), at: fc.nat(1) };
const steps = fc.array(
  fc.oneof(
    fc.record({ act: fc.constant('wait' as const), steps: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ act: fc.constant('forget' as const), who: entering.who }),
    fc.record({ act: fc.constant('again' as const), ...entering }),
    fc.record({ act: fc.constant('guess' as const), ...entering, times: fc.constantFrom(1, 2, 9) }),
    fc.record({
      act: fc.constant('app' as const),
      ...entering,
      of: fc.nat(1),
      offset: fc.integer({ min: -2, max: 2 }),
    }),
    fc.record({ act: fc.constant('recovery' as const), ...entering, of: fc.nat(1), index: fc.nat(2) }),
  ),
  { minLength: 25, maxLength: 40 },
);
type Step = typeof steps extends fc.Arbitrary<(infer One)[]> ? One : never;

async function take(step: Step, people: readonly [Person, Person]): Promise<void> {
  if (step.act === 'wait') return void (nowMs += step.steps * stepMs);
  const who = people[step.who] ?? people[0];
  if (step.act === 'forget') {
    // As if the 15 minutes were over.
    await world.database.pool.query('update sign_in.attempts set ends_at = now() where key = $1', [who.countedAs]);
    return void (who.guesses = 0);
  }
  const enter = async (code: string, isAccepted: () => boolean) => {
    const wanted = expected(who, code, isAccepted);
    expect([step, await statusOf(who, code, processes[step.at] ?? world)]).toEqual([step, wanted]);
    return wanted === 303;
  };
  if (step.act === 'again') return void (await enter(who.lastCode, () => false));
  if (step.act === 'guess') {
    const wrong = codeAt(who.secret, nowMs - 20 * stepMs);
    for (let count = 0; count < step.times; count += 1) await enter(wrong, () => false);
    return;
  }
  const of = people[step.of] ?? people[0];
  if (step.act === 'recovery') {
    const code = of.codes[step.index] ?? '';
    if (await enter(code, () => of === who && !who.usedCodes.has(code))) who.usedCodes.add(code);
    return;
  }
  const place = Math.floor(nowMs / stepMs) + step.offset;
  const isAccepted = () => of === who && Math.abs(step.offset) <= 1 && place > who.lastStep;
  if (await enter(codeAt(of.secret, nowMs + step.offset * stepMs), isAccepted)) who.lastStep = place;
}

test('each code works once and only for its person, whose ten guesses do not count for anyone else', async () => {
  const agrees = fc.asyncProperty(steps, async (taken) => {
    nowMs += 3600_000;
    const people = [await person(), await person()] as const;
    for (const step of taken) await take(step, people);
  });
  await fc.assert(agrees, { numRuns: 4, endOnFailure: true });
});
