/** Who is signed in, for the header of a page. */
import type { Signed } from './page.ts';
import type { Visit } from './session-guard.ts';

export const signedOf = ({ visitor: { member, organization }, csrfToken }: Visit): Signed => ({
  member,
  organization,
  signOutToken: csrfToken(),
});
