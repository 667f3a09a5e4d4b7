/** Ends proposals of rules that have expired, and executes those that were approved when a process ended. */
import { followRuleProposals } from '../../src/operations/proposals/rule/follow.ts'
import type { WorkerDefinition } from './definition.ts'

export const ruleProposalsWorker: WorkerDefinition = {
  name: 'rule-proposals',
  schedule: { everyMs: 10_000 },
  leaseMs: 60_000,
  // Allows for launches of several transactions with a slow node.
  deadlineMs: 300_000,
  tick: (context) => followRuleProposals(context, context),
}
