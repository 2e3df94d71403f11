/** Connect: n8n registers itself, the person signs in and agrees, and the token is an API key. */
import type { Icon, ICredentialTestRequest, ICredentialType, INodeProperties } from 'n8n-workflow';
import { defaultUrl } from '../contract';

export class ProposalOAuth2Api implements ICredentialType {
  name = 'proposalOAuth2Api';

  extends = ['oAuth2Api'];

  displayName = 'Proposal OAuth2 API';

  icon: Icon = { light: 'file:../icons/proposal.svg', dark: 'file:../icons/proposal.dark.svg' };

  documentationUrl = 'https://www.npmjs.com/package/n8n-nodes-proposal-api';

  properties: INodeProperties[] = [
    {
      displayName: 'Use Dynamic Client Registration',
      name: 'useDynamicClientRegistration',
      type: 'hidden',
      default: true,
    },
    {
      displayName: 'Server URL',
      name: 'serverUrl',
      type: 'string',
      default: defaultUrl,
      required: true,
      description: 'Where the service is',
    },
  ];

  test: ICredentialTestRequest = {
    request: { baseURL: '={{$credentials.serverUrl.replace(/(?:\\/v1)?\\/*$/, "")}}', url: '/v1/me' },
  };
}
