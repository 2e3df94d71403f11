/** The secret with which the service signs the events of one webhook endpoint. */
import type { Icon, ICredentialType, INodeProperties } from 'n8n-workflow';

// There is nothing to test: the secret never leaves n8n.
// eslint-disable-next-line @n8n/community-nodes/credential-test-required
export class ProposalWebhookApi implements ICredentialType {
  name = 'proposalWebhookApi';

  displayName = 'Proposal Webhook API';

  icon: Icon = { light: 'file:../icons/proposal.svg', dark: 'file:../icons/proposal.dark.svg' };

  documentationUrl = 'https://www.npmjs.com/package/n8n-nodes-proposal-api';

  properties: INodeProperties[] = [
    {
      displayName: 'Signing Secret',
      name: 'signingSecret',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      required: true,
      description: 'Starts with whsec_. Shown in Settings under Webhooks when the endpoint is created.',
    },
  ];
}
