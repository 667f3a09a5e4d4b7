/** A launch as it goes to the creator: keys made, transactions built, addresses known before anything is on chain. */
import type { Keypair } from '@solana/web3.js'
import type { PoolCreated } from '../../api/index.ts'
import { TIP_ACCOUNTS } from '../../chain/bundles.ts'
import { offeredPrice } from '../../chain/compute-budget.ts'
import * as dammV2 from '../../chain/damm-v2/index.ts'
import * as dbc from '../../chain/dbc/index.ts'
import { latestBlockhash, rentFor } from '../../chain/rpc-reads.ts'
import type { Context } from '../../context.ts'
import { curveNamed } from './presets.ts'

export interface LaunchInput {
  type: 'dbc' | 'damm_v2'
  creator: string
  name: string
  symbol: string
  preset?: string | undefined
  buyLamports: bigint
  /** Address that the fees belong to. */
  partner: string
  uri: string
  /** Whether it may go to a relay: only that is tipped. */
  isBundled: boolean
}

export interface Launch {
  /** Of the pool. */
  address: string
  mint: string
  /** Null for `damm_v2`. */
  config: string | null
  /** In the order in which they must land, unsigned. */
  transactions: Uint8Array[]
  requiredSigners: PoolCreated['required_signers']
  tipAccount: string
}

const MINT_BYTES = 82
/** Most that a transaction of a launch is measured to need. */
const MOST_UNITS = 500_000

export async function planLaunch(context: Context, input: LaunchInput): Promise<Launch> {
  const { chain, config } = context
  const connection = await chain.connection()
  const { Keypair } = await import('@solana/web3.js')
  const [mint, second] = [Keypair.generate(), Keypair.generate()]
  const tipAccount = TIP_ACCOUNTS[Math.floor(Math.random() * TIP_ACCOUNTS.length)]!
  const lamports = BigInt(config.values['relay-tip'])
  const isTipped = input.isBundled && config.values['relay-url'] !== undefined && lamports > 0n
  const accounts = [input.creator]
  const common = {
    creator: input.creator,
    mint: addressOf(mint),
    name: input.name,
    symbol: input.symbol,
    uri: input.uri,
    buyLamports: input.buyLamports,
    tip: isTipped ? { account: tipAccount, lamports } : null,
    recentBlockhash: await latestBlockhash(connection),
    computeUnitPrice: await offeredPrice({ connection, config }, accounts, MOST_UNITS),
  }
  const keys = { base_mint_secret_key: [...mint.secretKey] }
  const { preset, curve } = await curveNamed(config, input.preset)
  if (input.type === 'dbc') {
    const built = await dbc.buildLaunch({
      ...common,
      config: addressOf(second),
      feeClaimer: input.partner,
      leftoverReceiver: input.partner,
      curve,
    })
    return {
      address: await dbc.poolAddress({ mint: common.mint, config: addressOf(second) }),
      mint: common.mint,
      config: addressOf(second),
      transactions: built.map(({ transaction }) => transaction),
      requiredSigners: { ...keys, config_secret_key: [...second.secretKey] },
      tipAccount,
    }
  }
  const built = await dammV2.buildSingleSidedPool({
    ...common,
    positionNft: addressOf(second),
    decimals: preset.decimals,
    totalSupply: curve.totalSupply,
    initialMarketCapLamports: curve.initialMarketCapLamports,
    feeBps: preset.migration_fee_bps,
    rent: await rentFor(connection, MINT_BYTES),
  })
  return {
    address: await dammV2.poolAddress({ mint: common.mint }),
    mint: common.mint,
    config: null,
    transactions: built.map(({ transaction }) => transaction),
    requiredSigners: { ...keys, config_secret_key: [], position_nft_secret_key: [...second.secretKey] },
    tipAccount,
  }
}

const addressOf = (keypair: Keypair) => keypair.publicKey.toBase58()
