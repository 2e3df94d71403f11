/** An integration as a developer pushes it to Zapier: connection, trigger, search, and create; the steps are the guide's. */
import { version as platformVersion } from 'zapier-platform-core';
import type { AfterResponseMiddleware, BeforeRequestMiddleware, Bundle, ZObject } from 'zapier-platform-core';

/** The key goes along with every request, and nowhere else. */
const authorize: BeforeRequestMiddleware = (request, _, bundle) => {
  request.headers = { ...request.headers, Authorization: `Bearer ${String(bundle.authData?.apiKey)}` };
  return request;
};

/** A problem, in the words that the person who built the Zap can act on. */
const explain: AfterResponseMiddleware = (response, z) => {
  if (response.status < 400) return response;
  const { detail, code } = JSON.parse(response.content);
  throw new z.errors.Error(detail, code, response.status);
};

const address = (bundle: Bundle, path: string) => `${String(bundle.authData.baseUrl)}/v1${path}`;

async function me(z: ZObject, bundle: Bundle) {
  return (await z.request({ url: address(bundle, '/me') })).data;
}

/** Newest first, which is what Zapier expects: it remembers the ids that it has seen. */
async function newCustomers(z: ZObject, bundle: Bundle) {
  const { data } = await z.request({
    url: address(bundle, '/customers'),
    params: { sort: '-createdAt', limit: 100 },
  });
  return data.data;
}

async function findCustomer(z: ZObject, bundle: Bundle) {
  const { data } = await z.request({
    url: address(bundle, '/customers'),
    params: { email: String(bundle.inputData.email), limit: 10 },
  });
  return data.data;
}

/** Zapier runs a step again after a timeout: the same externalId makes it one record. */
async function createCustomer(z: ZObject, bundle: Bundle) {
  const { data } = await z.request({
    method: 'POST',
    url: address(bundle, '/customers'),
    params: { onConflict: 'update' },
    body: bundle.inputData,
  });
  return data;
}

const sample = { id: 'cus_01jzy3v1k8e2tb6qk3x5w9r7md', name: 'Alfreds Futterkiste', email: 'maria@alfreds.example' };
const label = (text: string) => ({ label: text, description: `${text} in the connected organization.` });

export const app = {
  version: '1.0.0',
  platformVersion,
  authentication: {
    type: 'custom',
    test: me,
    connectionLabel: '{{label}}',
    fields: [
      { key: 'baseUrl', label: 'Address', required: true },
      { key: 'apiKey', label: 'API key', required: true, type: 'password' },
    ],
  },
  beforeRequest: [authorize],
  afterResponse: [explain],
  triggers: {
    new_customer: {
      key: 'new_customer',
      noun: 'Customer',
      display: label('Triggers when a customer is new'),
      operation: { type: 'polling', perform: newCustomers, sample },
    },
  },
  searches: {
    find_customer: {
      key: 'find_customer',
      noun: 'Customer',
      display: label('Finds a customer by email address'),
      operation: { perform: findCustomer, inputFields: [{ key: 'email', required: true }], sample },
    },
  },
  creates: {
    create_customer: {
      key: 'create_customer',
      noun: 'Customer',
      display: label('Creates or updates a customer'),
      operation: {
        perform: createCustomer,
        inputFields: [
          { key: 'externalId', required: true },
          { key: 'name', required: true },
          { key: 'email' },
          { key: 'phone' },
        ],
        sample,
      },
    },
  },
};
