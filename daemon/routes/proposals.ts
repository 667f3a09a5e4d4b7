/** Proposals: one line per verb. */
import { proposals } from '../../src/api/proposals.ts'
import { createProposal, renewProposal } from '../../src/operations/proposals/create-proposal.ts'
import { importProposal } from '../../src/operations/proposals/import-proposal.ts'
import {
  decideProposal,
  executeProposal,
  forecastProposal,
  getProposal,
  listProposals,
  reclaimProposal,
} from '../../src/operations/proposals/verbs.ts'
import type { Mount } from '../mount.ts'

export function proposalsRoutes(mount: Mount): void {
  mount(proposals.create, createProposal)
  mount(proposals.import, importProposal)
  mount.stored(proposals.list, listProposals)
  mount(proposals.get, getProposal)
  mount(proposals.forecast, forecastProposal)
  mount(proposals.approve, decideProposal('approved'))
  mount(proposals.reject, decideProposal('rejected'))
  mount(proposals.cancel, decideProposal('cancelled'))
  mount(proposals.execute, executeProposal)
  mount(proposals.reclaim, reclaimProposal)
  mount(proposals.renew, renewProposal)
}
