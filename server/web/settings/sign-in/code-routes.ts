/** The second step of a sign-in, where two-factor authentication is on. */
import { membersWithEmail } from '../../../accounts/member-lookup.ts';
import type { FirstStep, Pending } from '../../../accounts/second-step.ts';
import { field } from '../fields.ts';
import type { Page } from '../page.ts';
import { deviceOf, localPath, setCookies } from '../session-guard.ts';
import type { SessionGuard } from '../session-guard.ts';
import { tellOfTwoFactor } from '../two-factor-mail.ts';
import { tooMany } from '../visit.ts';
import type { Open } from '../visit.ts';
import { codePage, codePath } from './code-page.ts';
import type { CodeView } from './code-page.ts';

export function codeRoutes(guard: SessionGuard): void {
  guard.openPage('/sign-in/code', async (open) => {
    const { request, context } = open;
    const pending = await context.secondStep.pending(request.headers.cookie);
    return pending ? show(open, pending, { withRecovery: request.query.with === 'recovery' }) : '/settings/sign-in';
  });
  guard.openForm('/sign-in/code', finish);
}

/** After the first step: into the settings, or to the page for the code. */
export async function enter({ request, response, context }: Open, first: FirstStep): Promise<string> {
  const { cookies, needsCode } = await context.secondStep.begin(first, deviceOf(request));
  setCookies(response, needsCode ? cookies : [...cookies, context.devices.remember(first.email)]);
  return needsCode ? codePath : localPath(first.next);
}

async function finish(open: Open): Promise<Page | string> {
  const { request, response, context } = open;
  const { secondStep, devices } = context;
  const { cookie } = request.headers;
  const kind = field(request.body, 'with');
  const code = field(request.body, 'code').slice(0, 100);
  const device = deviceOf(request);
  const knownDevice = (email: string) => devices.known(cookie, email);
  const withRecovery = kind === 'recovery';
  const result = await (kind === 'nothing'
    ? secondStep.finishWithout(cookie, device)
    : secondStep.finish(cookie, { code, device, knownDevice }));
  if (result.outcome === 'ended') return '/settings/sign-in?after=too-late';
  if (result.outcome === 'wrong') {
    const page = await show(open, result.pending, { withRecovery, problem: withRecovery ? wrongRecovery : wrongCode });
    return { ...page, status: 422 };
  }
  if (result.outcome === 'too_many') {
    response.set('Retry-After', String(result.waitSeconds));
    return {
      ...(await show(open, result.pending, { withRecovery, failure: tooMany(result.waitSeconds) })),
      status: 429,
    };
  }
  setCookies(response, [...result.cookies, ...(kind === 'nothing' ? [] : [devices.remember(result.email)])]);
  if (result.recovered.length > 0) tellOfTwoFactor(context, result.email, 'recovered', result.recovered);
  return result.recovered.length > 0 ? '/settings/account?done=recovered' : localPath(result.next);
}

const wrongCode = 'Incorrect code. Enter the one that the app shows now; each works once.';
const wrongRecovery = 'Incorrect recovery code. Each works once.';

async function show(
  { context }: Open,
  { email, next, open }: Pending,
  view: Pick<CodeView, 'withRecovery' | 'problem' | 'failure'>,
): Promise<Page> {
  const members = open.length === 0 ? [] : await membersWithEmail(context.database.signIns, email);
  const names = members.flatMap(({ id, organizationName }) => (open.includes(id) ? [organizationName] : []));
  return codePage({ email, next, open: names, ...view });
}
