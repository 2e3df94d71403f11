/** Names that people give: to organizations, members and API keys. */

export const nameLength = { organization: 200, member: 200, apiKey: 80, webhook: 80 } as const;

/** Trimmed and in Unicode's composed form; or the sentence that says what is wrong with it. */
export function parseName(typed: string, most: number): { name: string } | { problem: string } {
  const name = typed.trim().normalize('NFC');
  if (name === '') return { problem: 'Enter a name.' };
  if ([...name].length > most) return { problem: `Use at most ${most} characters.` };
  if (/\p{Cc}/u.test(name) || !name.isWellFormed()) return { problem: 'Remove the control characters from the name.' };
  return { name };
}
