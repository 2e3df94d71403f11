/** Starts a workflow by polling for what changed since the last poll. It finds records in their current state. */
import { NodeConnectionTypes } from 'n8n-workflow';
import type { INodeType, INodeTypeDescription, IPollFunctions } from 'n8n-workflow';
import { polledEvents, polls } from '../../contract';
import { authentication, credentials } from '../Proposal/authentication';
import { begin, changesSince, latest } from './changes';
import type { Memory } from './changes';

export class ProposalTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Proposal API Trigger',
    name: 'proposalTrigger',
    icon: { light: 'file:../../icons/proposal.svg', dark: 'file:../../icons/proposal.dark.svg' },
    group: ['trigger'],
    version: 1,
    subtitle: '={{$parameter["event"]}}',
    description: 'Starts the workflow when a customer, proposal or item changes',
    defaults: { name: 'Proposal API Trigger' },
    polling: true,
    inputs: [],
    outputs: [NodeConnectionTypes.Main],
    credentials,
    properties: [
      authentication,
      {
        displayName: 'Event',
        name: 'event',
        type: 'options',
        options: polledEvents,
        default: 'proposal.accepted',
        required: true,
      },
    ],
  };

  async poll(this: IPollFunctions) {
    const event = this.getNodeParameter('event') as string;
    const poll = polls[event];
    if (this.getMode() === 'manual') {
      const records = await latest(this, poll);
      return records.length === 0 ? null : [this.helpers.returnJsonArray(records)];
    }
    const memory = this.getWorkflowStaticData('node');
    // A workflow that was just activated, or whose event was changed, starts with what happens from now on.
    if (memory.event !== event) {
      Object.assign(memory, await begin(this, poll), { event });
      return null;
    }
    const { happened, memory: next } = await changesSince(this, poll, memory as Memory);
    Object.assign(memory, next);
    return happened.length === 0 ? null : [this.helpers.returnJsonArray(happened)];
  }
}
