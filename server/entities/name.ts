/** The maximum lengths of the names that people give to organizations, members, API keys and webhook endpoints. */
export const nameLength = { organization: 200, member: 200, apiKey: 80, webhook: 80 } as const;
