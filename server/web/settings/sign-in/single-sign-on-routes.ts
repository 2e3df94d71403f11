/** Redirects to the OpenID provider, and handles its callback. */
import type { Router } from 'express';
import { admit } from '../../../accounts/sign-in-log.ts';
import type { SingleSignOn } from '../../../accounts/single-sign-on.ts';
import type { SettingsContext } from '../context.ts';
import { field } from '../fields.ts';
import { deviceOf, localPath, setCookies } from '../session-guard.ts';

export function singleSignOnRoutes(router: Router, context: SettingsContext, singleSignOn: SingleSignOn): void {
  router.get('/oidc', async (request, response) => {
    const { url, cookies } = await singleSignOn.start(localPath(field(request.query, 'next')));
    setCookies(response, cookies);
    response.redirect(303, url);
  });

  router.get('/oidc/callback', async (request, response) => {
    const [, query = ''] = /(\?.*)$/.exec(request.originalUrl) ?? [];
    const admitted = await singleSignOn.finish(query, request.headers.cookie);
    setCookies(response, [singleSignOn.clear()]);
    if (!admitted) return response.redirect(303, '/settings/sign-in?after=single-sign-on');
    const { cookies } = await admit(context, { email: admitted.email, admitted, device: deviceOf(request) });
    setCookies(response, cookies);
    response.redirect(303, localPath(admitted.next));
  });
}
