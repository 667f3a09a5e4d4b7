/** A service whose embedded chain has a multisig of Squads with the real program, and what its members do. */
import { Keypair, PublicKey, type TransactionInstruction, TransactionMessage } from '@solana/web3.js'
import { accounts, instructions } from '@sqds/multisig'
import { beforeAll, expect } from 'vitest'
import { buildMultisigCreation, readSquadsSettings } from '../../src/chain/programs/squads/index.ts'
import type { LocalChain } from '../../src/localnet/types.ts'
import { followProposals } from '../../src/operations/proposals/follow-proposals.ts'
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { multisigAddress, vaultAddress } from '../../src/solana/squads/index.ts'
import { signed, transfer } from './local-chain-transactions.ts'
import { mapped } from './mapped.ts'
import { keypairFile } from './platform-wallet.ts'
import { IMAGE } from './pool-platform.ts'
import { hasProgram } from './programs.ts'
import { openService, removeFolder, type Service } from './service.ts'
import { makeSharedFolder } from './shared-folder.ts'
import { addressOf, keyOf, member } from './squads.ts'
import { keypairOf, SOL, signWith } from './wallets.ts'

export { addressOf } from './squads.ts'
export { SOL }

const lackingPrograms = [PROGRAMS.squads, PROGRAMS.dbc, PROGRAMS.tokenMetadata, PROGRAMS.distributor]
  .filter(({ id }) => !hasProgram(id))
  .map(({ name }) => name)
/** Part of titles: the programs that proposals of launches run and the cache lacks. */
export const lacksTreasury = lackingPrograms.length === 0 ? '' : ` (needs ${lackingPrograms.join(', ')})`

export interface PlannedPayment {
  id: string
  transaction_index: string
  transactions: string[]
}

interface Wish {
  threshold?: number
  timeLock?: number
  createKey?: Keypair
  /** Rights of the platform wallet. */
  platform?: 'i' | 'ivx'
  configAuthority?: string
}

export type Treasury = Awaited<ReturnType<typeof openTreasury>>

/** One for the tests of a describe, which opens it before them and closes it after them. */
export function sharedTreasury(onOpen: (at: Treasury) => void | Promise<void>): void {
  const folder = makeSharedFolder('svc-')
  beforeAll(async () => {
    const at = await openTreasury(folder)
    await onOpen(at)
    return async () => {
      await at.service.close()
      removeFolder(folder)
    }
  })
}

/** Two of three members approve; the platform wallet may propose and nothing else. The vault has 100 SOL. */
async function openTreasury(dataDir: string) {
  const platform = Keypair.generate()
  const firstKey = Keypair.generate()
  const service: Service = await openService({
    dataDir,
    settings: {
      signer: 'keypair',
      'signer.keypair': keypairFile(dataDir, platform),
      // The partner's fees belong to the vault from the start.
      'platform-wallet': vaultAddress(multisigAddress(addressOf(firstKey)), 0),
    },
  })
  const chain: LocalChain = await service.services.chain.local()
  const [a, b, c, trader, stranger] = mapped([1, 2, 3, 4, 5], () => Keypair.generate())
  for (const key of [platform, a, b, c, trader, stranger]) chain.airdrop(addressOf(key), 1_000n * SOL)

  /** Signs with those of the keys that must sign, and lands it. */
  const landed = (text: string, ...keys: Keypair[]) => {
    const { err, logs } = chain.send(Buffer.from(signWith(text, keys), 'base64'))
    expect(err, logs.join('\n')).toBeNull()
  }

  const createMultisig = async (wish: Wish = {}) => {
    const createKey = wish.createKey ?? Keypair.generate()
    const made = await buildMultisigCreation({
      payer: addressOf(a),
      recentBlockhash: chain.latestBlockhash().blockhash,
      createKey: addressOf(createKey),
      treasury: (await readSquadsSettings(service.services.chain)).treasury,
      threshold: wish.threshold ?? 2,
      timeLock: wish.timeLock ?? 0,
      members: [member(platform, wish.platform ?? 'i'), member(a), member(b), member(c)],
      rentCollector: addressOf(a),
      configAuthority: wish.configAuthority ?? null,
    })
    landed(Buffer.from(made.transaction).toString('base64'), a, createKey)
    const vault = vaultAddress(made.multisig, 0)
    chain.airdrop(vault, 100n * SOL)
    return { multisig: made.multisig, vault }
  }
  const { multisig, vault } = await createMultisig({ createKey: firstKey })

  const ask = async (method: string, path: string, body?: object) => {
    const answer = await service.request(method, path, body === undefined ? {} : { body })
    return { status: answer.status, data: answer.json.data, error: answer.json.error }
  }
  const post = async (path: string, body: object = {}) => {
    const { status, data, error } = await ask('POST', path, body)
    if (error) throw Object.assign(new Error(`${status} ${JSON.stringify(error)}`), { error })
    return data
  }
  const approver = (by: Keypair = a, of = multisig) => ({ kind: 'squads', multisig: of, member: addressOf(by) })

  /** Lands what puts a proposal on the chain. */
  const put = (proposal: { transactions: string[] }, ...keys: Keypair[]) => {
    for (const text of proposal.transactions) landed(text, ...keys)
  }
  /** Lets the workers look, as if some time had passed. */
  const follow = async (rounds = 2) => {
    for (let i = 0; i < rounds; i++) {
      chain.advance(3)
      service.clock.advance(60_000)
      await followProposals(service.services)
      await followTransactions(service.services)
    }
  }
  const step = async (verb: string, id: string, by: Keypair) => {
    const { transaction } = await post(`/v2/proposals/${id}/${verb}`, { member: addressOf(by) })
    landed(transaction, by)
    await follow()
  }
  const proposalOf = async (id: string) => (await ask('GET', `/v2/proposals/${id}`)).data
  const events = async (type: string) => (await ask('GET', `/v2/events?type=${type}`)).data

  /** Plans a payment of 1 SOL out of the vault to the stranger. */
  const plan = async (of = { vault, multisig }): Promise<PlannedPayment> => {
    const body = { payer: of.vault, recipient: addressOf(stranger), lamports: String(SOL) }
    return (await post('/v2/sol-transfers', { ...body, approver: approver(a, of.multisig) })).proposal
  }
  /** The same, when it is on the chain and waits for votes. */
  const payment = async (of?: { vault: string; multisig: string }) => {
    const proposal = await plan(of)
    put(proposal, a)
    await follow()
    return proposal
  }

  /** Sends instructions of Squads' own client, and returns the signature. */
  const foreign = (list: TransactionInstruction[], by: Keypair): string => {
    // Two equal ones are not the same, because the next has another blockhash.
    chain.advance(1)
    const raw = signed(list, [by], { blockhash: chain.latestBlockhash().blockhash })
    const { err, logs, signature } = chain.send(raw)
    expect(err, logs.join('\n')).toBeNull()
    return signature
  }
  /** How Squads' own client names a proposal. */
  const place = (index: string, of = multisig) => ({ multisigPda: keyOf(of), transactionIndex: BigInt(index) })
  /** A transfer to the stranger as the message of a vault transaction. */
  const transferMessage = (lamports: number) =>
    new TransactionMessage({
      payerKey: keyOf(vault),
      recentBlockhash: PublicKey.default.toBase58(),
      instructions: [transfer({ publicKey: keyOf(vault) } as Keypair, stranger.publicKey, lamports)],
    })

  return {
    ...{ service, chain, platform, a, b, c, trader, stranger, multisig, vault, createMultisig },
    ...{ ask, post, approver, landed, put, follow, step, proposalOf, events, plan, payment, foreign, place },
    transferMessage,
    /** The number that the next proposal has. */
    nextIndex(): string {
      const data = Buffer.from(chain.account(multisig)!.data)
      const [{ transactionIndex }] = accounts.Multisig.fromAccountInfo({ data } as never)
      return String(BigInt(String(transactionIndex)) + 1n)
    },
    foreignVote: (index: string, by: Keypair, kind: 'proposalApprove' | 'proposalReject' | 'proposalCancel') =>
      foreign([instructions[kind]({ ...place(index), member: by.publicKey })], by),
    /** Proposes a transfer to the stranger with Squads' own client. */
    foreignProposal(index: string, by: Keypair, lamports: number) {
      const terms = { vaultIndex: 0, ephemeralSigners: 0, transactionMessage: transferMessage(lamports) }
      const at = { ...place(index), creator: by.publicKey }
      foreign([instructions.vaultTransactionCreate({ ...at, ...terms }), instructions.proposalCreate(at)], by)
    },
    /** Proposes a change of the multisig's rules with Squads' own client. */
    foreignChange(index: string, by: Keypair) {
      const at = { ...place(index), creator: by.publicKey }
      const actions = [{ __kind: 'SetTimeLock' as const, newTimeLock: 0 }]
      foreign([instructions.configTransactionCreate({ ...at, actions }), instructions.proposalCreate(at)], by)
    },
    /** The execution that Squads' own client makes. */
    async foreignExecution(index: string, by: Keypair, of = multisig): Promise<TransactionInstruction> {
      const connection = {
        getAccountInfo: async (address: PublicKey) => {
          const account = chain.account(address.toBase58())
          return account && { ...account, owner: keyOf(account.owner), data: Buffer.from(account.data) }
        },
      }
      const at = { connection: connection as never, ...place(index, of), member: by.publicKey }
      return (await instructions.vaultTransactionExecute(at)).instruction
    },
    lamports: (address: string) => chain.account(address)?.lamports ?? 0n,
    /** Launches a pool whose fees belong to the vault, and trades in it so that there are some. */
    async earningPool(trades = 1) {
      const creator = Keypair.generate()
      chain.airdrop(addressOf(creator), 100n * SOL)
      const body = { creator: addressOf(creator), name: 'My Token', symbol: 'MTK', image: IMAGE }
      const data = await post('/v2/pools', body)
      const { base_mint_secret_key, config_secret_key } = data.required_signers
      const keys = [base_mint_secret_key, config_secret_key].map(keypairOf)
      for (const text of data.transactions) landed(text, creator, ...keys)
      const trade = async () => {
        const order = { payer: addressOf(trader), side: 'buy', amount: String(10n * SOL) }
        const { tx } = await post(`/v2/pools/${data.pool.address}/swaps`, order)
        landed(tx.transaction, trader)
      }
      for (let i = 0; i < trades; i++) await trade()
      return { pool: data.pool.address as string, trade }
    },
    splitsTo(count: number) {
      const bps = Math.floor(10_000 / count)
      return Array.from({ length: count }, (_, i) => {
        const key = Keypair.generate()
        chain.airdrop(addressOf(key), SOL)
        return { recipient: addressOf(key), bps: i === 0 ? 10_000 - bps * (count - 1) : bps }
      })
    },
    /** Approves by two members, and executes. */
    async carryOut(id: string) {
      await step('approvals', id, a)
      await step('approvals', id, b)
      await step('executions', id, a)
    },
  }
}
