/** Proposals: one line per verb. */
import { proposals } from '../../src/api/proposals.ts'
import { createProposal } from '../../src/operations/proposals/create-proposal.ts'
import { decideProposal } from '../../src/operations/proposals/decide-proposal.ts'
import { executeProposal } from '../../src/operations/proposals/execute-proposal.ts'
import { forecastProposal } from '../../src/operations/proposals/forecast-proposal.ts'
import { getProposal } from '../../src/operations/proposals/get-proposal.ts'
import { importProposal } from '../../src/operations/proposals/import-proposal.ts'
import { listProposals } from '../../src/operations/proposals/list-proposals.ts'
import { reclaimProposal } from '../../src/operations/proposals/reclaim-proposal.ts'
import { renewProposal } from '../../src/operations/proposals/renew-proposal.ts'
import type { Mount } from '../mount.ts'

export function proposalsRoutes(mount: Mount): void {
  mount(proposals.create, createProposal)
  mount(proposals.import, importProposal)
  mount.stored(proposals.list, listProposals)
  mount(proposals.get, getProposal)
  mount(proposals.forecast, forecastProposal)
  mount(proposals.approve, (context, input) => decideProposal(context, input, 'approved'))
  mount(proposals.reject, (context, input) => decideProposal(context, input, 'rejected'))
  mount(proposals.cancel, (context, input) => decideProposal(context, input, 'cancelled'))
  mount(proposals.execute, executeProposal)
  mount(proposals.reclaim, reclaimProposal)
  mount(proposals.renew, renewProposal)
}
