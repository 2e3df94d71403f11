/** Tells people by mail what happened to their two-factor authentication. */
import { twoFactorMail } from '../../accounts/mail.ts';
import type { TwoFactorChange } from '../../accounts/mail.ts';
import type { SettingsServices } from './context.ts';

/** Nobody waits for the mail server. */
export function tellOfTwoFactor(
  { mailer, onError }: Pick<SettingsServices, 'mailer' | 'onError'>,
  email: string,
  change: TwoFactorChange,
  organizations: readonly string[],
): void {
  void mailer?.send(twoFactorMail(email, { change, organizations })).catch(onError);
}
