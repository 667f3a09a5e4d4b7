/** Mounts the routes of tokens, one line per verb. */

import { tokenActs } from '../../src/api/token-acts.ts'
import { tokenExtensionActs } from '../../src/api/token-extensions.ts'
import { tokenReports } from '../../src/api/token-report.ts'
import { tokenUpdates } from '../../src/api/token-updates.ts'
import { tokens } from '../../src/api/tokens.ts'
import { revokeAuthority, transferAuthority } from '../../src/operations/tokens/authorities.ts'
import { createToken } from '../../src/operations/tokens/create-token.ts'
import { getToken } from '../../src/operations/tokens/get-token.ts'
import { fetchTokenLabels } from '../../src/operations/tokens/labels.ts'
import { listTokens } from '../../src/operations/tokens/list-tokens.ts'
import { closeToken, pauseToken, resumeToken } from '../../src/operations/tokens/mint-acts.ts'
import { getTokenReport } from '../../src/operations/tokens/report/get-token-report.ts'
import { updateExtensions } from '../../src/operations/tokens/update-extensions.ts'
import { updateMetadata } from '../../src/operations/tokens/update-metadata.ts'
import {
  burnTokens,
  freezeAccounts,
  mintTokens,
  thawAccount,
  thawAccounts,
} from '../../src/operations/tokens/wallet-acts.ts'
import { harvestFees, withdrawWithheld } from '../../src/operations/tokens/withheld-fees.ts'
import type { Mount } from '../mount.ts'

export function tokensRoutes(mount: Mount): void {
  mount(tokens.create, createToken)
  mount.stored(tokens.list, listTokens)
  mount(tokens.get, getToken)
  mount(tokenUpdates.updateMetadata, updateMetadata)
  mount(tokenReports.report, getTokenReport)
  mount(tokens.batchFetch, fetchTokenLabels)
  mount(tokens.transferAuthority, transferAuthority)
  mount(tokens.revokeAuthority, revokeAuthority)
  mount(tokenExtensionActs.withdrawWithheld, withdrawWithheld)
  mount(tokenExtensionActs.harvestFees, harvestFees)
  mount(tokenExtensionActs.updateExtensions, updateExtensions)
  mount(tokenActs.mint, mintTokens)
  mount(tokenActs.burn, burnTokens)
  mount(tokenActs.freeze, freezeAccounts)
  mount(tokenActs.thaw, thawAccount)
  mount(tokenActs.thawList, thawAccounts)
  mount(tokenActs.pause, pauseToken)
  mount(tokenActs.resume, resumeToken)
  mount(tokenActs.close, closeToken)
}
