/**
 * n8n without its editor and database: its own loader, workflows, execution, polls and webhooks (n8n-core and
 * n8n-workflow). Of what the n8n program adds, this has the minimum: it stores and fills in credentials.
 */
import { createRequire } from 'node:module';
import type { Request, Response } from 'express';

// Their types need different versions of their dependencies.
const require = createRequire(import.meta.url);
const core = require('n8n-core');
const { Workflow, ICredentialsHelper, createRunExecutionData } = require('n8n-workflow');

type Values = Record<string, unknown>;
/** Credential type → what a person entered, or what Connect stored. */
export type Credentials = Record<string, Values>;

export type Runtime = {
  nodeTypes: Record<string, { type: any }>;
  typeOf(name: string): any;
  credentialTypes: Record<string, { type: any }>;
  /** Executes one node for these items, and returns its items. */
  execute(type: string, parameters: Values, credentials: Credentials, items?: Values[]): Promise<Values[]>;
  /** The entries of a drop-down. */
  options(type: string, parameter: string, parameters: Values, credentials: Credentials): Promise<Values[]>;
  /** A trigger that keeps its state from poll to poll; `null` if there is nothing new. */
  poller(type: string, parameters: Values, credentials: Credentials): (mode?: string) => Promise<Values[] | null>;
  receive(
    type: string,
    parameters: Values,
    credentials: Credentials,
    request: Request,
    response: Response,
  ): Promise<any>;
};

const nameOf = 'Step';

export async function startN8n(folder: string): Promise<Runtime> {
  const loader = new core.PackageDirectoryLoader(folder);
  await loader.loadAll();
  const { nodeTypes, credentialTypes } = loader;
  const known = {
    getByName: (name: string) => nodeTypes[name].type,
    getByNameAndVersion: (name: string) => nodeTypes[name].type,
    getKnownTypes: () => ({}),
  };
  // n8n's Workflow gives a declarative node the same parameters and execution as in n8n.
  const workflowOf = (type: string, parameters: Values, credentials: Credentials) => {
    const stored = Object.fromEntries(Object.keys(credentials).map((name) => [name, { id: name, name }]));
    const node = { id: '1', name: nameOf, type, typeVersion: 1, position: [0, 0], parameters, credentials: stored };
    return new Workflow({ id: 'w', nodes: [node], connections: {}, active: true, nodeTypes: known, settings: {} });
  };
  const additional = (credentials: Credentials) => ({
    credentialsHelper: new Helper(credentials, credentialTypes),
    hooks: new core.ExecutionLifecycleHooks('manual', '1', { id: 'w', nodes: [], connections: {} }),
    webhookWaitingBaseUrl: 'http://localhost/webhook-waiting',
    formWaitingBaseUrl: 'http://localhost/form-waiting',
    restApiUrl: '',
    variables: {},
    executionId: '1',
  });
  return {
    nodeTypes,
    typeOf: (name) => nodeTypes[name].type,
    credentialTypes,
    async execute(type, parameters, credentials, items = [{}]) {
      const workflow = workflowOf(type, parameters, credentials);
      const node = workflow.getNode(nameOf);
      const json = items.map((item) => ({ json: item }));
      const data = { node, data: { main: [json] }, source: null };
      const run = createRunExecutionData({ executionData: { nodeExecutionStack: [data] } });
      const execution = new core.WorkflowExecute(additional(credentials), 'manual', run);
      const { data: result } = await execution.processRunExecutionData(workflow);
      if (result.resultData.error) throw result.resultData.error;
      return result.resultData.runData[nameOf][0].data.main[0].map((item: { json: Values }) => item.json);
    },
    async options(type, parameter, parameters, credentials) {
      const workflow = workflowOf(type, parameters, credentials);
      const node = workflow.getNode(nameOf);
      const property = nodeTypes[type]?.type.description.properties.find(({ name }: Values) => name === parameter);
      const { routing } = property.typeOptions.loadOptions;
      // As n8n loads the entries of a declarative drop-down.
      const asking = { displayName: '', name: '', type: 'string', default: '', routing };
      const description = { ...nodeTypes[type]?.type.description, properties: [asking] };
      const main = [[{ json: {} }]];
      const data = { node, data: { main }, source: null };
      const own = [workflow, node, additional(credentials), 'internal', createRunExecutionData({}), 0, []];
      const routed = new core.RoutingNode(new core.ExecuteContext(...own, { main }, data, []), { description });
      const [items] = await routed.runNode();
      return items.map((item: { json: Values }) => item.json);
    },
    poller(type, parameters, credentials) {
      const workflow = workflowOf(type, parameters, credentials);
      const node = workflow.getNode(nameOf);
      return async (mode = 'trigger') => {
        // They can be changed between polls.
        Object.assign(node.parameters, parameters);
        const context = new core.PollContext(workflow, node, additional(credentials), mode, 'activate');
        const found = await nodeTypes[type].type.poll.call(context);
        return found === null ? null : found[0].map((item: { json: Values }) => item.json);
      };
    },
    async receive(type, parameters, credentials, request, response) {
      const workflow = workflowOf(type, parameters, credentials);
      const node = workflow.getNode(nameOf);
      const own = { ...additional(credentials), httpRequest: request, httpResponse: response };
      const [webhookDescription] = nodeTypes[type].type.description.webhooks;
      const webhook = { node: nameOf, path: 'webhook', httpMethod: 'POST', webhookDescription };
      const context = new core.WebhookContext(workflow, node, own, 'webhook', webhook, [], null);
      return nodeTypes[type].type.webhook.call(context);
    },
  };
}

/** Fills credentials into requests as n8n does: the expressions of a credential type, or n8n's own OAuth2. */
class Helper extends ICredentialsHelper {
  #stored: Credentials;
  #types: Record<string, { type: any }>;

  constructor(stored: Credentials, types: Record<string, { type: any }>) {
    super();
    this.#stored = stored;
    this.#types = types;
  }

  getParentTypes(name: string): string[] {
    return this.#types[name]?.type.extends ?? [];
  }

  async authenticate(credentials: Values, type: string, options: any, workflow: any, node: any): Promise<any> {
    const { headers = {} } = this.#types[type]?.type.authenticate?.properties ?? {};
    const resolved = Object.entries(headers).map(([name, value]) => [
      name,
      workflow.expression.getSimpleParameterValue(
        node,
        value,
        'internal',
        { $credentials: credentials },
        undefined,
        '',
      ),
    ]);
    return { ...options, headers: { ...options.headers, ...Object.fromEntries(resolved) } };
  }

  isCredentialUsableByNode(): boolean {
    return true;
  }

  async preAuthentication(): Promise<undefined> {
    return undefined;
  }

  async runPreAuthentication(): Promise<undefined> {
    return undefined;
  }

  async getDecrypted(_: unknown, __: unknown, type: string): Promise<Values> {
    return this.#stored[type] ?? {};
  }

  async getCredentials(): Promise<never> {
    throw new Error('Nothing is stored here.');
  }

  async updateCredentials(): Promise<void> {}

  async updateCredentialsOauthTokenData(): Promise<void> {}

  getCredentialsProperties(type: string): unknown[] {
    return this.#types[type]?.type.properties ?? [];
  }
}
