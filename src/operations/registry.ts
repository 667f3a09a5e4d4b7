/** The function that carries out each route of the contract, by noun and verb. A noun is loaded on its first use. */
import type { paths } from '../api/paths.ts'
import type { AnyRoute, Input, Result } from '../api/route.ts'
import type { Context } from '../context.ts'

/** What carries out a route. The input is validated by the schemas of the route. */
export type Operation<R extends AnyRoute> = (context: Context, input: Input<R>) => Result<R> | Promise<Result<R>>

/** A read that needs only stored records: its answers are reused until the database changes. */
interface StoredRead<R extends AnyRoute> {
  stored: (context: Pick<Context, 'store'>, input: Input<R>) => Promise<Result<R>>
}
const stored = <I, O>(operation: (context: Pick<Context, 'store'>, input: I) => Promise<O>) => ({ stored: operation })

/** A write whose body stays unparsed: who mounts the route makes the input from the bytes. */
interface UnparsedWrite<R extends AnyRoute> {
  // biome-ignore lint/suspicious/noExplicitAny: the route says nothing about this input
  unparsed: (context: Context, input: any) => Promise<Result<R>>
}

export interface Verb {
  verb: string
  route: AnyRoute
  // biome-ignore lint/suspicious/noExplicitAny: the pair of route and operation is checked by verbsOf
  operation: Operation<any>
  isStored: boolean
}

/** Pairs the routes of a noun with their functions, in the order of mounting; each route has one. */
function verbsOf<const R extends Readonly<Record<string, AnyRoute>>>(
  routes: R,
  operations: { [V in keyof R]: Operation<R[V]> | StoredRead<R[V]> | UnparsedWrite<R[V]> },
): Verb[] {
  return Object.entries<object>(operations).map(([verb, own]) => {
    const isStored = 'stored' in own
    const operation = (isStored ? own.stored : 'unparsed' in own ? own.unparsed : own) as Verb['operation']
    return { verb, route: routes[verb] as AnyRoute, operation, isStored }
  })
}

export type Noun = keyof typeof paths

export const REGISTRY: Readonly<Record<Noun, () => Promise<Verb[]>>> = {
  async accounts() {
    const verbs = await import('./accounts.ts')
    return verbsOf((await import('../api/accounts.ts')).accounts, {
      get: verbs.getAccount,
      batchFetch: verbs.fetchAccounts,
      balances: verbs.getWalletBalances,
    })
  },
  async airdrops() {
    return verbsOf((await import('../api/airdrops.ts')).airdrops, {
      create: (await import('./airdrops/create-airdrop.ts')).createAirdrop,
      list: stored((await import('./airdrops/reads.ts')).listAirdrops),
      get: (await import('./airdrops/reads.ts')).getAirdrop,
      stats: (await import('./airdrops/read-airdrop-stats.ts')).readAirdropStats,
      claims: (await import('./airdrops/reads.ts')).listAirdropClaims,
      unclaimed: (await import('./airdrops/list-unclaimed.ts')).listUnclaimed,
      distributor: (await import('./airdrops/reads.ts')).getDistributor,
      claim: (await import('./airdrops/claim-airdrop.ts')).claimAirdrop,
      entitlement: (await import('./airdrops/reads.ts')).getEntitlement,
      withdraw: (await import('./airdrops/withdraw-vault.ts')).withdrawVault,
      lookup: (await import('./airdrops/reads.ts')).lookUpAirdrops,
    })
  },
  async apiKeys() {
    const verbs = await import('./api-keys.ts')
    return verbsOf((await import('../api/api-keys.ts')).apiKeys, {
      create: verbs.createApiKey,
      // The last use of a key is written without a change that cached answers would notice.
      list: verbs.listApiKeys,
      update: verbs.updateApiKeyById,
      rotate: verbs.rotateApiKey,
      revoke: verbs.revokeApiKeyById,
    })
  },
  async approvers() {
    const verbs = await import('./approvers.ts')
    return verbsOf((await import('../api/approvers.ts')).approvers, {
      add: verbs.addApprover,
      list: stored(verbs.listApprovers),
      remove: verbs.removeApprover,
    })
  },
  async attention() {
    const verbs = await import('./attention/verbs.ts')
    return verbsOf((await import('../api/attention.ts')).attention, {
      list: verbs.listAttention,
      snooze: verbs.snoozeItem,
    })
  },
  async auditEntries() {
    return verbsOf((await import('../api/audit-entries.ts')).auditEntries, {
      list: stored((await import('./audit-entries/verbs.ts')).listAuditEntries),
      verify: (await import('./audit-entries/verbs.ts')).verifyAuditEntries,
      cut: (await import('./audit-entries/cut-audit-entries.ts')).cutAuditEntries,
    })
  },
  async collections() {
    const verbs = await import('./collections.ts')
    return verbsOf((await import('../api/collections.ts')).collections, {
      create: verbs.createCollection,
      transferAuthority: verbs.transferCollectionAuthority,
      get: verbs.getCollection,
    })
  },
  async consoleSessions() {
    const verbs = await import('./console-sessions.ts')
    return verbsOf((await import('../api/console-sessions.ts')).consoleSessions, {
      link: verbs.createConsoleLink,
      list: verbs.listConsoleSessions,
      end: verbs.endConsoleSession,
    })
  },
  async events() {
    const verbs = await import('./events.ts')
    return verbsOf((await import('../api/events.ts')).events, {
      list: stored(verbs.listEvents),
      verify: verbs.verifyEvents,
      repair: verbs.repairEvents,
      get: stored(verbs.getEvent),
    })
  },
  async feeClaims() {
    return verbsOf((await import('../api/fee-claims.ts')).feeClaims, {
      create: (await import('./fee-claims/create-fee-claim.ts')).createFeeClaim,
      delegate: (await import('./fee-claims/delegations.ts')).delegateFees,
      delegations: (await import('./fee-claims/delegations.ts')).listFeeDelegations,
      listByPool: (await import('./fee-claims/list-fee-claims.ts')).listPoolFeeClaims,
      list: stored((await import('./fee-claims/list-fee-claims.ts')).listFeeClaims),
    })
  },
  async feeSchedules() {
    const verbs = await import('./fee-schedules/verbs.ts')
    return verbsOf((await import('../api/fee-schedules.ts')).feeSchedules, {
      create: verbs.createFeeSchedule,
      list: stored(verbs.listFeeSchedules),
      get: stored(verbs.getFeeSchedule),
      update: verbs.updateFeeScheduleById,
      delete: verbs.deleteFeeScheduleById,
      runs: stored(verbs.listFeeScheduleRuns),
      run: verbs.runFeeSchedule,
    })
  },
  async goldLocks() {
    const { goldLocks } = await import('../api/gold-locks.ts')
    return verbsOf(goldLocks, (await import('./gold-locks/verbs.ts')).goldLockVerbs)
  },
  async holderSnapshots() {
    const verbs = await import('./holder-snapshots.ts')
    return verbsOf((await import('../api/holder-snapshots.ts')).holderSnapshots, {
      create: verbs.createHolderSnapshot,
      list: stored(verbs.listHolderSnapshots),
      get: stored(verbs.getHolderSnapshot),
      holders: verbs.listHolders,
      piece: verbs.getHolderPiece,
    })
  },
  async ledger() {
    const verbs = await import('./ledger/verbs.ts')
    return verbsOf((await import('../api/ledger.ts')).ledger, {
      list: verbs.listLedger,
      summary: verbs.sumLedger,
      verify: verbs.verifyLedger,
      repair: verbs.repairLedger,
    })
  },
  async locks() {
    return verbsOf((await import('../api/locks.ts')).locks, (await import('./locks/verbs.ts')).lockVerbs)
  },
  async merkleTrees() {
    const verbs = await import('./merkle-trees/verbs.ts')
    return verbsOf((await import('../api/merkle-trees.ts')).merkleTrees, {
      create: { unparsed: verbs.createMerkleTree },
      list: stored(verbs.listMerkleTrees),
      get: stored(verbs.getMerkleTree),
      entries: verbs.listEntries,
      proof: verbs.getProof,
    })
  },
  async multisigs() {
    const verbs = await import('./multisigs.ts')
    return verbsOf((await import('../api/multisigs.ts')).multisigs, {
      create: verbs.createMultisig,
      get: verbs.getMultisig,
    })
  },
  async nfts() {
    const verbs = await import('./nfts.ts')
    return verbsOf((await import('../api/nfts.ts')).nfts, {
      create: verbs.createNft,
      burn: verbs.burnNft,
      list: stored(verbs.listNfts),
      get: verbs.getNft,
    })
  },
  async payRequests() {
    const verbs = await import('./pay-requests/verbs.ts')
    return verbsOf((await import('../api/pay-requests.ts')).payRequests, {
      create: verbs.createPayRequest,
      list: verbs.listPayRequests,
      get: verbs.getPayRequest,
      build: verbs.buildForOwner,
      revoke: verbs.revokePayRequest,
    })
  },
  async pdas() {
    return verbsOf((await import('../api/pdas.ts')).pdas, { derive: (await import('./pdas.ts')).derivePda })
  },
  async positions() {
    return verbsOf((await import('../api/pool-positions.ts')).poolPositions, {
      list: (await import('./positions/list-positions.ts')).listPositions,
      open: (await import('./positions/verbs.ts')).openPosition,
      add: (await import('./positions/verbs.ts')).addLiquidity,
      remove: (await import('./positions/verbs.ts')).removeLiquidity,
      lock: (await import('./positions/verbs.ts')).lockPosition,
      vest: (await import('./positions/verbs.ts')).vestPosition,
      close: (await import('./positions/verbs.ts')).closePosition,
    })
  },
  async pools() {
    return verbsOf((await import('../api/pools.ts')).pools, {
      create: (await import('./pools/create-pool.ts')).createPool,
      rehearse: (await import('./pool-rehearsals/rehearse-pool.ts')).rehearsePool,
      list: (await import('./pools/reads.ts')).listPools,
      get: (await import('./pools/reads.ts')).getPool,
      curveProgress: (await import('./pools/reads.ts')).getCurveProgress,
      feeMetrics: (await import('./pools/reads.ts')).getFeeMetrics,
      earnings: (await import('./pools/get-earnings.ts')).getEarnings,
      trades: (await import('./pools/list-trades.ts')).listTrades,
      verify: (await import('./pools/verify-pool.ts')).verifyPool,
      swap: (await import('./pools/acts.ts')).swapPool,
      transferCreator: (await import('./pools/acts.ts')).transferCreator,
      transferPositions: (await import('./pools/acts.ts')).transferPositions,
      migrate: (await import('./pools/acts.ts')).migratePool,
      presets: (await import('./pools/reads.ts')).listPresets,
      preview: (await import('./pools/preview-preset.ts')).previewPreset,
      sharedConfig: (await import('./pools/reads.ts')).getSharedConfig,
      share: (await import('./pools/acts.ts')).sharePreset,
    })
  },
  async proposals() {
    const createProposal = await import('./proposals/create-proposal.ts')
    const verbs = await import('./proposals/verbs.ts')
    return verbsOf((await import('../api/proposals.ts')).proposals, {
      create: createProposal.createProposal,
      import: (await import('./proposals/import-proposal.ts')).importProposal,
      list: stored(verbs.listProposals),
      get: verbs.getProposal,
      forecast: verbs.forecastProposal,
      approve: verbs.decideProposal('approved'),
      reject: verbs.decideProposal('rejected'),
      cancel: verbs.decideProposal('cancelled'),
      execute: verbs.executeProposal,
      reclaim: verbs.reclaimProposal,
      renew: createProposal.renewProposal,
    })
  },
  async raises() {
    return verbsOf((await import('../api/raises.ts')).raises, {
      create: (await import('./raises/create-raise.ts')).createRaise,
      list: stored((await import('./raises/reads.ts')).listRaises),
      get: (await import('./raises/reads.ts')).getRaise,
      buyer: (await import('./raises/buyers.ts')).getBuyer,
      storeAllowlist: { unparsed: (await import('./raises/allowlists.ts')).storeAllowlist },
      open: (await import('./raises/allowlists.ts')).openRaise,
      deposit: (await import('./raises/buyers.ts')).deposit,
      withdraw: (await import('./raises/buyers.ts')).withdrawDeposit,
      claim: (await import('./raises/buyers.ts')).claimBought,
      refund: (await import('./raises/buyers.ts')).refundDeposit,
      settle: (await import('./raises/settle-raise.ts')).settleRaise,
    })
  },
  async rentReclaims() {
    return verbsOf((await import('../api/rent-reclaims.ts')).rentReclaims, {
      create: (await import('./rent-reclaims.ts')).createRentReclaim,
    })
  },
  async programs() {
    return verbsOf((await import('../api/programs.ts')).programs, {
      get: (await import('./programs/read-programs.ts')).readPrograms,
      check: (await import('./programs/read-programs.ts')).checkPrograms,
    })
  },
  async service() {
    const verbs = await import('./service/verbs.ts')
    return verbsOf((await import('../api/service.ts')).service, {
      health: (await import('./service/health.ts')).health,
      workers: verbs.readWorkers,
      eventTypes: verbs.listEventTypes,
      cluster: verbs.readCluster,
    })
  },
  async signer() {
    const verbs = await import('./signer.ts')
    return verbsOf((await import('../api/signer.ts')).signer, {
      get: verbs.readSigner,
      updatePolicy: verbs.updateSignerPolicy,
      pause: verbs.pauseSigner,
      resume: verbs.resumeSigner,
      reset: verbs.resetSpend,
      test: verbs.testSigner,
    })
  },
  async sponsorships() {
    return verbsOf((await import('../api/sponsorships.ts')).sponsorships, {
      get: stored((await import('./sponsorships/verbs.ts')).getSponsorship),
      update: (await import('./sponsorships/verbs.ts')).changeSponsorship,
      build: (await import('./sponsorships/build-sponsored-claim.ts')).buildSponsoredClaimFor,
      submit: (await import('./sponsorships/submit-sponsored-claim.ts')).submitSponsoredClaim,
    })
  },
  async solTransfers() {
    return verbsOf((await import('../api/sol-transfers.ts')).solTransfers, {
      create: (await import('./sol-transfers.ts')).createSolTransfer,
    })
  },
  async stakes() {
    const verbs = await import('./stakes.ts')
    return verbsOf((await import('../api/stakes.ts')).stakes, {
      create: verbs.createStake,
      release: verbs.releaseStake,
      list: stored(verbs.listStakes),
      get: verbs.getStake,
      lookup: verbs.lookUpStakes,
    })
  },
  async storage() {
    return verbsOf((await import('../api/storage.ts')).storage, {
      delegate: (await import('./storage.ts')).delegateStorage,
    })
  },
  async tokenTransfers() {
    return verbsOf((await import('../api/token-transfers.ts')).tokenTransfers, {
      create: (await import('./token-transfers/verbs.ts')).createTokenTransfer,
      plan: (await import('./token-transfers/verbs.ts')).planTokenTransfers,
    })
  },
  async tokens() {
    const authorities = await import('./tokens/authorities.ts')
    const mintActs = await import('./tokens/mint-acts.ts')
    const walletActs = await import('./tokens/wallet-acts.ts')
    const withheldFees = await import('./tokens/withheld-fees.ts')
    return verbsOf(
      {
        ...(await import('../api/tokens.ts')).tokens,
        ...(await import('../api/token-updates.ts')).tokenUpdates,
        ...(await import('../api/token-report.ts')).tokenReports,
        ...(await import('../api/token-extensions.ts')).tokenExtensionActs,
        ...(await import('../api/token-acts.ts')).tokenActs,
      },
      {
        create: (await import('./tokens/verbs.ts')).createToken,
        list: stored((await import('./tokens/verbs.ts')).listTokens),
        get: (await import('./tokens/verbs.ts')).getToken,
        updateMetadata: (await import('./tokens/update-metadata.ts')).updateMetadata,
        report: (await import('./tokens/report/get-token-report.ts')).getTokenReport,
        batchFetch: (await import('./tokens/labels.ts')).fetchTokenLabels,
        transferAuthority: authorities.transferAuthority,
        revokeAuthority: authorities.revokeAuthority,
        withdrawWithheld: withheldFees.withdrawWithheld,
        harvestFees: withheldFees.harvestFees,
        updateExtensions: (await import('./tokens/update-extensions.ts')).updateExtensions,
        mint: walletActs.mintTokens,
        burn: walletActs.burnTokens,
        freeze: walletActs.freezeAccounts,
        thaw: walletActs.thawAccount,
        thawList: walletActs.thawAccounts,
        pause: mintActs.pauseToken,
        resume: mintActs.resumeToken,
        close: mintActs.closeToken,
      },
    )
  },
  async transactions() {
    const verbs = await import('./transactions/read-transactions.ts')
    return verbsOf((await import('../api/transactions.ts')).transactions, {
      submit: (await import('./transactions/submit-transaction.ts')).submitTransaction,
      refresh: (await import('./transactions/refresh-transactions.ts')).refreshTransactions,
      list: stored(verbs.listTransactions),
      get: verbs.getTransaction,
      content: (await import('./transactions/transaction-content.ts')).readContent,
      changes: verbs.getBalanceChanges,
      batchFetch: (await import('./transactions/fetch-transactions.ts')).fetchTransactions,
      simulate: (await import('./transactions/simulate-transaction.ts')).simulateTransaction,
      forecast: (await import('./transactions/forecast-transactions.ts')).forecastTransactions,
    })
  },
  async webhookSubscriptions() {
    const verbs = await import('./webhook-subscriptions/verbs.ts')
    return verbsOf((await import('../api/webhook-subscriptions.ts')).webhookSubscriptions, {
      create: verbs.createWebhookSubscription,
      list: stored(verbs.listWebhookSubscriptions),
      get: stored(verbs.getWebhookSubscription),
      update: verbs.updateWebhookSubscriptionById,
      delete: verbs.deleteWebhookSubscriptionById,
      test: verbs.testWebhookSubscription,
      deliveries: stored(verbs.listDeliveries),
      delivery: stored(verbs.getDelivery),
      stats: verbs.webhookStatsOf,
      replay: verbs.replayEvents,
      rotateSecret: verbs.rotateSecret,
    })
  },
}
