/** The second step of a sign-in, where two-factor authentication is on. */
import type { Request, Response, Router } from 'express';
import { membersWithEmail } from '../../../accounts/member-lookup.ts';
import type { FirstStep, Pending } from '../../../accounts/second-step.ts';
import type { SettingsContext } from '../context.ts';
import { field } from '../fields.ts';
import { sendPage } from '../page.ts';
import { deviceOf, localPath, setCookies } from '../session-guard.ts';
import { tellOfTwoFactor } from '../two-factor-mail.ts';
import { tooMany } from '../visit.ts';
import { codePage, codePath } from './code-page.ts';
import type { CodeView } from './code-page.ts';

type Open = { request: Request<Record<string, string>>; response: Response; context: SettingsContext };

export function codeRoutes(router: Router, context: SettingsContext): void {
  router.get('/sign-in/code', async (request, response) => {
    const pending = await context.secondStep.pending(request.headers.cookie);
    if (!pending) return response.redirect(303, '/settings/sign-in');
    await show({ request, response, context }, pending, { withRecovery: request.query.with === 'recovery' });
  });
  router.post(
    '/sign-in/code',
    context.guard.openForm((request, response) => finish({ request, response, context })),
  );
}

/** After the first step: into the settings, or to the page for the code. */
export async function enter({ request, response, context }: Open, first: FirstStep): Promise<void> {
  const { cookies, needsCode } = await context.secondStep.begin(first, deviceOf(request));
  setCookies(response, needsCode ? cookies : [...cookies, context.devices.remember(first.email)]);
  response.redirect(303, needsCode ? codePath : localPath(first.next));
}

async function finish(open: Open): Promise<void> {
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
  if (result.outcome === 'ended') return response.redirect(303, '/settings/sign-in?after=too-late');
  if (result.outcome === 'wrong')
    return show(open, result.pending, { withRecovery, problem: withRecovery ? wrongRecovery : wrongCode }, 422);
  if (result.outcome === 'too_many') {
    response.set('Retry-After', String(result.waitSeconds));
    return show(open, result.pending, { withRecovery, failure: tooMany(result.waitSeconds) }, 429);
  }
  setCookies(response, [...result.cookies, ...(kind === 'nothing' ? [] : [devices.remember(result.email)])]);
  if (result.recovered.length > 0) tellOfTwoFactor(context, result.email, 'recovered', result.recovered);
  response.redirect(303, result.recovered.length > 0 ? '/settings/account?done=recovered' : localPath(result.next));
}

const wrongCode = 'Incorrect code. Enter the one that the app shows now; each works once.';
const wrongRecovery = 'Incorrect recovery code. Each works once.';

async function show(
  { response, context }: Open,
  { email, next, open }: Pending,
  view: Pick<CodeView, 'withRecovery' | 'problem' | 'failure'>,
  status = 200,
): Promise<void> {
  const members = open.length === 0 ? [] : await membersWithEmail(context.database.signIns, email);
  const names = members.flatMap(({ id, organizationName }) => (open.includes(id) ? [organizationName] : []));
  sendPage(response, codePage({ email, next, open: names, ...view }), status);
}
