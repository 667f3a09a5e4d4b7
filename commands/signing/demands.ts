/** Every command that signs with the user's keypair, and what it demands of its transactions before it does. */
import { PROGRAMS } from '../../src/solana/programs.ts'
import { type AskedTransfer, anyValue, type Call, type Demand, pays, type Signing, sendsTokens } from './demand.ts'
import { claimsAirdrop, opensAirdrop } from './demanded-airdrops.ts'
import {
  burnsNft,
  locksGold,
  makesCollection,
  mintsNft,
  releasesNft,
  stakesNft,
  unlocksGold,
} from './demanded-assets.ts'
import { claimsFees } from './demanded-claims.ts'
import { launches, makesConfig, swaps } from './demanded-pools.ts'
import { makesToken, revokes } from './demanded-tokens.ts'

type Calls = Call[] | Promise<Call[]>

/** A row of the table: a sentence for the preview, and the calls that a request implies. */
const row =
  <F>(says: string, callsOf: (of: Signing, asked: F) => Calls, { inOrder = false } = {}) =>
  async (of: Signing, asked: F): Promise<Demand> => ({
    says,
    payer: of.payer,
    calls: await callsOf(of, asked),
    inOrder,
  })

const sendsList = row('these transfers', sendsTokens, { inOrder: true })

export const DEMANDS = {
  'wallet send': row(
    'one transfer, of this amount to this recipient',
    async (of, asked: AskedTransfer & { mint?: string; decimals: number }) =>
      asked.mint === undefined
        ? [pays(of.payer, asked.wallet, asked.amount ?? anyValue)]
        : sendsTokens(of, { mint: asked.mint, decimals: asked.decimals, recipients: [asked] }),
  ),
  'tokens create': row('this mint, its supply and its authorities', makesToken),
  'tokens revoke': row('it gives up this authority, and changes nothing else', revokes),
  'gold lock': row('this amount into your own lock, for these days', locksGold),
  'gold unlock': row('the lock is paid to you, and closed', unlocksGold),
  'collections create': row('this collection, of this authority, without plugins', makesCollection),
  'nfts mint': row('this asset, to this owner, without plugins', mintsNft),
  'nfts burn': row('it burns this asset', burnsNft),
  'stakes create': row('it freezes this asset in your wallet', stakesNft),
  'stakes release': row('it thaws this asset', releasesNft),
  'pools create': row('this token and its pool, and a first buy of this amount', launches),
  'pools share': row(
    'one config account, at your cost',
    (of, { config, mostFee }: { config: string; mostFee: bigint }) => [makesConfig(of, config, { mostFee })],
  ),
  'pools swap': row('one trade on this pool, of this amount, with your own accounts', swaps),
  'pools transfer-creator': row(
    'this wallet becomes the creator',
    ({ payer }, { pool, creator }: { pool: string; creator: string }) => [
      {
        program: PROGRAMS.dbc.id,
        call: 'transfer_pool_creator',
        fields: { virtual_pool: pool, creator: payer, new_creator: creator },
      },
    ],
  ),
  'fees claim': row('this claim, into accounts of whom it pays, and these shares', claimsFees),
  'airdrops init': row('this airdrop, with this deposit into its vault', opensAirdrop),
  'airdrops launch': row('this airdrop, with its total into its vault', opensAirdrop),
  'airdrops claim': row('one claim, into your own account', claimsAirdrop),
  'airdrops send': sendsList,
  'airdrops push': sendsList,
} as const

/**
 * Commands that sign without a request of their own: there is nothing to compare with, so that the content is shown, and
 * a person says yes.
 */
export const SHOWN_BEFORE_SIGNING = ['tx sign'] as const
