/** How an account is connected, and what each request carries: an API key, pasted or created by clicking Connect. */
import type { Bundle, Request, Response, Z } from './platform.ts';

/** The URL of the service. With a `clientId`, people connect by OAuth; without one, they paste a key. */
export type Connection = { baseUrl: string; clientId: string | undefined };

/** An app has one way to connect. `label` is what the service calls the connection. */
export function authenticationOf({ baseUrl, clientId }: Connection): object {
  const test = async (z: Z) => (await z.request({ url: `${baseUrl}/v1/me` })).data;
  const shared = { test, connectionLabel: '{{label}}' };
  return clientId === undefined
    ? { ...shared, type: 'custom', fields: [keyField(baseUrl)] }
    : { ...shared, type: 'oauth2', oauth2Config: oauth(baseUrl, clientId) };
}

const keyField = (baseUrl: string) => ({
  key: 'apiKey',
  label: 'API Key',
  type: 'password',
  required: true,
  helpText: `An admin creates it in [API Keys](${baseUrl}/settings/api-keys). It starts with ak_live_.`,
});

/** Zapier adds the code challenge (S256) to the first request and the code verifier to the second. */
const oauth = (baseUrl: string, clientId: string) => ({
  enablePkce: true,
  authorizeUrl: {
    url: `${baseUrl}/settings/connect`,
    params: {
      client_id: clientId,
      response_type: 'code',
      redirect_uri: '{{bundle.inputData.redirect_uri}}',
      state: '{{bundle.inputData.state}}',
    },
  },
  getAccessToken: {
    url: `${baseUrl}/oauth/token`,
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: {
      grant_type: 'authorization_code',
      client_id: clientId,
      code: '{{bundle.inputData.code}}',
      redirect_uri: '{{bundle.inputData.redirect_uri}}',
      code_verifier: '{{bundle.inputData.code_verifier}}',
    },
  },
});

/** Sends the key to the service and nowhere else. */
export const authorize =
  (baseUrl: string) =>
  // There is no authData until an account is connected.
  (request: Request, _: Z, { authData = {} }: Partial<Bundle>): Request => {
    const key = authData.apiKey ?? authData.access_token;
    const isOurs = request.url.startsWith(`${baseUrl}/v1/`);
    if (!isOurs || typeof key !== 'string') return request;
    return { ...request, headers: { ...request.headers, Authorization: `Bearer ${key}` } };
  };

/** Reports a failure to the person who builds the Zap, in the service's own words. */
export function explain(response: Response, z: Z): Response {
  const { status } = response;
  if (status < 400 || (status === 404 && response.skipThrowForStatus)) return response;
  const problem = problemOf(response.content);
  const { sentence = `The service responded with status ${status}.`, code = 'unexpected_response' } = problem;
  if (status === 401) throw new z.errors.ExpiredAuthError(sentence);
  if (status === 429) throw new z.errors.ThrottledError(sentence, Number(response.getHeader('retry-after') ?? 60));
  throw new z.errors.Error(sentence, code, status);
}

/** A problem of the API or an OAuth error; {} if the content is not JSON, such as a proxy's HTML. */
function problemOf(content: string): { sentence?: string; code?: string } {
  try {
    const {
      detail,
      error_description: description,
      code,
      error,
    } = Object(JSON.parse(content)) as Record<string, string | undefined>;
    return { sentence: detail ?? description, code: code ?? error };
  } catch {
    return {};
  }
}
