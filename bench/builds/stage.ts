/** An embedded chain with the real programs on which everything stands that a build reads, and a stub of its node. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as spl from '@solana/spl-token'
import {
  Connection,
  Keypair,
  type PublicKey,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { UNLINKED } from '../../daemon/pipeline/context.ts'
import { openServices } from '../../daemon/services.ts'
import { openChain } from '../../src/chain/connection.ts'
import type { Context } from '../../src/context.ts'
import { loadConfig } from '../../src/settings/config.ts'
import { type StubNode, stubNode } from './stub-node.ts'

export const SOL = 1_000_000_000n
export const GOLD_UNITS = 1_000_000_000_000n
const GOLD_DECIMALS = 9
const NODE_URL = 'http://node.test'
/** What every build's request has by default. */
export const UNSIGNED = { mode: 'unsigned', dry_run: false, tx_version: 0 } as const

export interface Stage {
  /** Operations with it ask the embedded chain. */
  real: Context
  /** Operations with it ask the stub. */
  context: Context
  /** Asks the stub as the operations do, without anything of the product. */
  connection: Connection
  node: StubNode
  /** Pays for everything but what the platform wallet pays for. */
  user: Keypair
  /** A wallet that has gold and no lock. */
  holder: Keypair
  platform: Keypair
  gold: PublicKey
  /** Lands an unsigned transaction in base64 or wire format, or throws its logs. */
  land(transaction: string | Uint8Array, keys?: readonly Keypair[]): void
  run(instructions: TransactionInstruction[], keys: readonly Keypair[]): void
  /** Seconds pass on the chain. */
  pass(seconds: number): void
  close(): Promise<void>
}

/** Small enough to be filled by some SOL. */
const PRESET = {
  total_supply: '1000000',
  decimals: 6,
  initial_market_cap: 1,
  migration_market_cap: 3,
  fee: { starting_bps: 100, ending_bps: 100 },
  liquidity: { partner: 50, partner_locked: 50 },
}

export async function openStage(programsDir?: string): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-builds-'))
  const [platform, gold] = [Keypair.generate(), Keypair.generate()]
  const file = (name: string, content: unknown) => {
    writeFileSync(join(folder, name), JSON.stringify(content), { mode: 0o600 })
    return join(folder, name)
  }
  const flags = {
    'data-dir': folder,
    ...(programsDir === undefined ? {} : { 'programs-dir': programsDir }),
    signer: 'keypair',
    'signer.keypair': file('platform.json', [...platform.secretKey]),
    'pools.presets': file('presets.json', { small: PRESET }),
    'pools.preset': 'small',
    'gold.mint': gold.publicKey.toBase58(),
  }
  const configWith = (more: object) => loadConfig({ flags: { ...flags, ...more }, env: {}, cwd: folder })
  const services = await openServices(configWith({}))
  const [chain, rpc] = [await services.chain.local(), await services.chain.rpc()]
  const node = stubNode(rpc)
  const stubbed = openChain(configWith({ url: NODE_URL }), { around: () => node.fetch })
  const real: Context = {
    ...services,
    actor: { apiKeyId: 'bench', scopes: ['*'] },
    requestId: 'bench',
    externalUid: undefined,
    metadata: undefined,
    signing: UNLINKED,
    txVersion: 0,
    dryRun: false,
    status: undefined,
    commit: (work) => services.store.write(work),
  }
  const [user, holder] = [Keypair.generate(), Keypair.generate()]
  for (const key of [user, holder, platform]) chain.airdrop(key.publicKey.toBase58(), 10_000n * SOL)
  const land: Stage['land'] = (transaction, keys = []) => {
    const bytes = typeof transaction === 'string' ? Buffer.from(transaction, 'base64') : transaction
    const decoded = VersionedTransaction.deserialize(bytes)
    const needed = decoded.message.staticAccountKeys.slice(0, decoded.message.header.numRequiredSignatures)
    decoded.sign([user, holder, platform, ...keys].filter((key) => needed.some((each) => each.equals(key.publicKey))))
    const { err, logs } = chain.send(decoded.serialize())
    if (err !== null) throw new Error(`${JSON.stringify(err)}\n${logs.join('\n')}`)
  }
  const run: Stage['run'] = (instructions, keys) => {
    const { blockhash: recentBlockhash } = chain.latestBlockhash()
    const message = new TransactionMessage({ payerKey: user.publicKey, recentBlockhash, instructions })
    land(new VersionedTransaction(message.compileToV0Message()).serialize(), keys)
  }
  run(goldInstructions(user.publicKey, gold.publicKey, [user.publicKey, holder.publicKey]), [gold])
  return {
    real,
    context: { ...real, chain: stubbed },
    connection: new Connection(NODE_URL, {
      commitment: 'confirmed',
      disableRetryOnRateLimit: true,
      fetch: node.fetch as never,
    }),
    node,
    user,
    holder,
    platform,
    gold: gold.publicKey,
    land,
    run,
    pass: (seconds) => chain.advance(seconds),
    async close() {
      await stubbed.close()
      await services.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A mint of SPL Token, of which each of the owners has as much. */
function goldInstructions(payer: PublicKey, mint: PublicKey, owners: readonly PublicKey[]): TransactionInstruction[] {
  return [
    SystemProgram.createAccount({
      fromPubkey: payer,
      newAccountPubkey: mint,
      space: spl.MINT_SIZE,
      lamports: Number(SOL),
      programId: spl.TOKEN_PROGRAM_ID,
    }),
    spl.createInitializeMint2Instruction(mint, GOLD_DECIMALS, payer, null),
    ...owners.flatMap((owner) => {
      const account = spl.getAssociatedTokenAddressSync(mint, owner)
      return [
        spl.createAssociatedTokenAccountInstruction(payer, account, owner, mint),
        spl.createMintToInstruction(mint, account, payer, GOLD_UNITS),
      ]
    }),
  ]
}
