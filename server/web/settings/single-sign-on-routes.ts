/** Redirects to the OpenID provider, and handles its callback. */
import type { Router } from 'express';
import { logSignIn } from '../../accounts/sign-in-log.ts';
import type { SingleSignOn } from '../../accounts/single-sign-on.ts';
import type { SettingsContext } from './context.ts';
import { field } from './fields.ts';
import { deviceOf, localPath, setCookies } from './session-guard.ts';

export function singleSignOnRoutes(router: Router, context: SettingsContext, singleSignOn: SingleSignOn): void {
  const { database } = context;

  router.get('/oidc', async (request, response) => {
    const { url, cookies } = await singleSignOn.start(localPath(field(request.query, 'next')));
    setCookies(response, cookies);
    response.redirect(303, url);
  });

  router.get('/oidc/callback', async (request, response) => {
    const [, query = ''] = /(\?.*)$/.exec(request.originalUrl) ?? [];
    const result = await singleSignOn.finish(query, request.headers.cookie);
    if (!result) return response.redirect(303, '/settings/sign-in?after=single-sign-on');
    await logSignIn(database, result.email, deviceOf(request).ipAddress);
    setCookies(response, result.cookies);
    response.redirect(303, localPath(result.next));
  });
}
