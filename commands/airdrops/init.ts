/** `svc airdrops init`: a distributor made and funded in one transaction, by your keypair or the platform wallet. */
import { paths } from '../../src/api/paths.ts'
import { MAX_AIRDROP_COUNT } from '../../src/merkle/tree-id.ts'
import { flag, integer, type Session, text, type Values, verb } from '../command.ts'
import { dryOf, SIGNING } from '../signing/flags.ts'
import { DEFAULT_PLATFORM, PLATFORM_ID } from '../signing/platform.ts'
import { pair } from '../signing/preview.ts'
import { signAndSubmit } from '../signing/sign-and-submit.ts'
import { signByPlatform } from '../signing/sign-by-platform.ts'
import { failure, usage } from '../ui/problem.ts'

const { submit, get, simulate } = paths.transactions

const flags = {
  mint: text('Mint of the token, where no tree is stored', { placeholder: 'MINT' }),
  airdrop_count: integer('Which airdrop of this mint, with --mint (default 0)', { min: 0, max: MAX_AIRDROP_COUNT }),
  root: text('Merkle root, hex, with --mint', { placeholder: 'HEX' }),
  unfunded: flag('Deposit nothing: whoever claims before you do finds an empty vault'),
  fund_amount: text('Deposit so many raw units instead of the total of the tree', { placeholder: 'UNITS' }),
  clawback_after_days: integer('Days until what is left can be withdrawn (default 30)', { min: 1, max: 3650 }),
  signed: flag('The platform wallet pays and signs, instead of your keypair'),
  idempotency_key: text('With --signed: repeat under this key what an earlier run began', { placeholder: 'KEY' }),
  platform_id: PLATFORM_ID,
  ...SIGNING,
}
type InitFlags = Values<typeof flags>

interface Wanted {
  mint: string
  airdrop_count: number
  merkle_root: string
}

export const init = verb({
  about: 'Put an airdrop on chain and fund it, in one transaction',
  details:
    'With the id of a stored tree, its root and total are taken from there. What is left after the clawback time goes back to the token account of whoever paid.',
  calls: [paths.airdrops.create, paths.airdrops.get, simulate, submit, get, paths.signer.get],
  args: { id: text('Id of the stored tree; not with --mint') },
  flags,
  examples: [
    'svc airdrops init <id>',
    'svc airdrops init <id> --signed --clawback-after-days 90 --yes',
    'svc airdrops init --mint <mint> --airdrop-count 3 --root HEX --fund-amount 1000000',
  ],
  async run({ id, ...input }, session) {
    checkFlags(id, input)
    const wanted = id === undefined ? wantedOf(input) : await storedOf(session, id)
    const what = `Initialize airdrop ${wanted.airdrop_count} of ${wanted.mint}`
    const body = {
      ...wanted,
      platform_id: input.platform_id ?? DEFAULT_PLATFORM,
      ...(input.unfunded ? { fund: false } : {}),
      ...(input.fund_amount === undefined ? {} : { fund_amount: input.fund_amount }),
      ...(input.clawback_after_days === undefined ? {} : { clawback_after_days: input.clawback_after_days }),
    }
    const build = async (payer: string) => {
      const { data } = await session.client.airdrops.create({ ...body, payer, ...dryOf(input) })
      if (data.mode === 'unsigned') return data
      throw failure('the API answered with a signed transaction, though none was asked for', {
        next: `\`svc tx status ${data.signature}\``,
      })
    }
    const shown = { mint: wanted.mint, airdrop_count: wanted.airdrop_count, root: wanted.merkle_root }
    const preview = () => [pair('root', wanted.merkle_root)]
    if (!input.signed) {
      return signAndSubmit(session, input, {
        what,
        build: async (payer) => ({ data: await build(payer) }),
        preview,
        show: () => shown,
      })
    }
    return signByPlatform(session, input, {
      what,
      build,
      async sign(payer, options) {
        const { data } = await session.client.airdrops.create({ ...body, payer, mode: 'signed' }, options)
        if (data.mode !== 'signed') throw failure('the API answered without a signature: it did not sign')
        return { signature: data.signature, shown }
      },
      preview,
      show: () => shown,
    })
  },
})

function checkFlags(id: string | undefined, input: InitFlags): void {
  if ((id === undefined) === (input.mint === undefined)) {
    throw usage('give either the id of a stored tree, or --mint and --root', { param: '<id>' })
  }
  if (id !== undefined && (input.root !== undefined || input.airdrop_count !== undefined)) {
    const shown = input.root === undefined ? '--airdrop-count' : '--root'
    throw usage(`${shown} goes with --mint: a stored tree has its own`, { param: shown })
  }
  if (id === undefined && input.root === undefined) throw usage('--root is required with --mint', { param: '--root' })
  if (input.unfunded && input.fund_amount !== undefined) {
    throw usage('give either --unfunded or --fund-amount', { param: '--fund-amount' })
  }
  if (input.idempotency_key !== undefined && !input.signed) {
    throw usage('--idempotency-key is for --signed', { param: '--idempotency-key' })
  }
  if (input.signed && (input.keypair !== undefined || input.build_only)) {
    const shown = input.build_only ? '--build-only' : '--keypair'
    throw usage(`${shown} is for what your own keypair signs, not for --signed`, { param: shown })
  }
}

const wantedOf = ({ mint, airdrop_count = 0, root }: InitFlags): Wanted => ({
  mint: mint!,
  airdrop_count,
  merkle_root: root!,
})

async function storedOf({ client }: Session, id: string): Promise<Wanted> {
  const { mint, airdrop_count, root } = (await client.airdrops.get({ id })).data
  return { mint, airdrop_count, merkle_root: root }
}
