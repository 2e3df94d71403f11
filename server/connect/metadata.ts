/** What applications discover: which server authorizes them (RFC 9728), and how (RFC 8414). */

/** The code is returned in the query of the redirect URI. */
export const responseMode = 'query';
export const consentPath = '/settings/connect';

/** One key works for all of them. */
export const resourcesOf = (baseUrl: string): string[] => [baseUrl, `${baseUrl}/mcp`, `${baseUrl}/v1`];

/** Some clients append a slash. */
export const plainResource = (sent: string): string => sent.replace(/\/$/, '');

export const resourceMetadataUrl = (baseUrl: string, resource: '/mcp' | '/v1'): string =>
  `${baseUrl}/.well-known/oauth-protected-resource${resource}`;

export const resourceMetadata = (baseUrl: string, resource: string): object => ({
  resource: baseUrl + resource,
  authorization_servers: [baseUrl],
  bearer_methods_supported: ['header'],
  resource_name: 'Proposal API',
  resource_documentation: `${baseUrl}/docs`,
});

export const serverMetadata = (baseUrl: string): object => ({
  issuer: baseUrl,
  authorization_endpoint: baseUrl + consentPath,
  token_endpoint: `${baseUrl}/oauth/token`,
  registration_endpoint: `${baseUrl}/oauth/register`,
  revocation_endpoint: `${baseUrl}/oauth/revoke`,
  response_types_supported: ['code'],
  response_modes_supported: [responseMode],
  grant_types_supported: ['authorization_code'],
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: ['none'],
  revocation_endpoint_auth_methods_supported: ['none'],
  authorization_response_iss_parameter_supported: true,
  client_id_metadata_document_supported: true,
  service_documentation: `${baseUrl}/docs/agents`,
});
