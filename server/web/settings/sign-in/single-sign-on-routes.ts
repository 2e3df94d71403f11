/** Redirects to the OpenID provider, and handles its callback. */
import { admit } from '../../../accounts/sign-in-log.ts';
import type { SingleSignOn } from '../../../accounts/single-sign-on.ts';
import { field } from '../fields.ts';
import { deviceOf, localPath, setCookies } from '../session-guard.ts';
import type { SessionGuard } from '../session-guard.ts';

export function singleSignOnRoutes(guard: SessionGuard, singleSignOn: SingleSignOn): void {
  guard.openPage('/oidc', async ({ request, response }) => {
    const { url, cookies } = await singleSignOn.start(localPath(field(request.query, 'next')));
    setCookies(response, cookies);
    return url;
  });

  guard.openPage('/oidc/callback', async ({ request, response, context }) => {
    const [, query = ''] = /(\?.*)$/.exec(request.originalUrl) ?? [];
    const admitted = await singleSignOn.finish(query, request.headers.cookie);
    setCookies(response, [singleSignOn.clear()]);
    if (!admitted) return '/settings/sign-in?after=single-sign-on';
    setCookies(response, await admit(context, { email: admitted.email, admitted, device: deviceOf(request) }));
    return localPath(admitted.next);
  });
}
