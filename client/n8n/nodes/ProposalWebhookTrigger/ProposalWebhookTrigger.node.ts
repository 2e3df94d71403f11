/** Starts a workflow within seconds: the service sends signed events to the URL of this node. */
import { NodeConnectionTypes } from 'n8n-workflow';
import type { INodeType, INodeTypeDescription, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { events } from '../../contract';
import { isSigned } from './signature';

export class ProposalWebhookTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Proposal API Webhook Trigger',
    name: 'proposalWebhookTrigger',
    icon: { light: 'file:../../icons/proposal.svg', dark: 'file:../../icons/proposal.dark.svg' },
    group: ['trigger'],
    version: 1,
    subtitle: '={{$parameter["events"].join(", ")}}',
    description: 'Starts the workflow as soon as a customer, proposal or item changes',
    defaults: { name: 'Proposal API Webhook Trigger' },
    inputs: [],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'proposalWebhookApi', required: true }],
    webhooks: [{ name: 'default', httpMethod: 'POST', responseMode: 'onReceived', path: 'webhook' }],
    properties: [
      {
        displayName:
          'An admin creates an endpoint with the URL above in Settings > Webhooks and copies its secret here',
        name: 'notice',
        type: 'notice',
        default: '',
      },
      {
        displayName: 'Events',
        name: 'events',
        type: 'multiOptions',
        options: events,
        default: [],
        description: 'Which events start the workflow; all that arrive if none is chosen',
      },
    ],
  };

  // An API key cannot create an endpoint: a person does, so there is nothing to register here.
  webhookMethods = {
    default: {
      async checkExists() {
        return true;
      },
      async create() {
        return true;
      },
      async delete() {
        return true;
      },
    },
  };

  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    const { signingSecret } = await this.getCredentials<{ signingSecret: string }>('proposalWebhookApi');
    const { rawBody, headers } = this.getRequestObject();
    if (!isSigned({ secret: signingSecret, headers, body: rawBody })) {
      this.getResponseObject().status(401).json({ message: 'The signature does not match this body and secret.' });
      return { noWebhookResponse: true };
    }
    const wanted = this.getNodeParameter('events') as string[];
    const event = this.getBodyData();
    if (wanted.length > 0 && !wanted.includes(String(event.type))) return { webhookResponse: 'ignored' };
    // The id is the same in every attempt, so a workflow can recognize an event that it has seen.
    return { workflowData: [[{ json: { id: headers['webhook-id'], ...event } }]] };
  }
}
