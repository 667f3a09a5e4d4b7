/** `svc pools create`: launches a token with its pool, signed by the user's keypair or the platform wallet, and waits until it is live. */
import { paths } from '../../src/api/paths.ts'
import type { Pool, PoolCreated } from '../../src/api/pools.ts'
import { LAMPORT_DECIMALS, rawUnits } from '../amounts.ts'
import { type CommandOutcome, choiceOf, type InputValues, required, text, toggle, verb } from '../command.ts'
import type { Session } from '../session.ts'
import { buildFields, SIGNING, txVersionField, WALLET_ADDRESS } from '../signing/flags.ts'
import { platformAddress, sendByPlatform } from '../signing/platform-wallet.ts'
import { runSigned } from '../signing/run.ts'
import { readBytes } from '../ui/files.ts'
import { usage } from '../ui/problem.ts'
import { poolSummary, untilLive } from './verify.ts'

const URL_VALUE = { placeholder: 'URL' }
const createFlags = {
  name: required(text('Name: 1 to 20 letters, digits or spaces')),
  symbol: required(text('Symbol: 1 to 10 letters or digits')),
  image: required(text('Image of the token: PNG, JPEG, GIF or WebP; - for standard input', { placeholder: 'FILE' })),
  type: choiceOf(['dbc', 'damm_v2'], 'Launch curve (dbc, the default), or a pool of the whole supply (damm_v2)'),
  unlocked_liquidity: toggle(
    'With damm_v2: the creator can take the liquidity out at any time; otherwise it is locked for good',
  ),
  preset: text('Curve, see `svc pools presets`', { placeholder: 'NAME' }),
  buy: text("SOL that the creator's first buy spends", { placeholder: 'SOL' }),
  description: text('Description, up to 500 characters'),
  website: text('Website', URL_VALUE),
  twitter: text('Profile on X', URL_VALUE),
  telegram: text('Group or channel on Telegram', URL_VALUE),
  bundle: toggle('Send the transactions as a bundle; so is done by itself where relay-url is set'),
  signed: toggle('The platform wallet creates it and signs, instead of your keypair'),
  idempotency_key: text('With --signed: repeat under this key what an earlier run began', { placeholder: 'KEY' }),
  creator: text('Wallet that signs elsewhere and launches it, the same as --payer; with --build-only', WALLET_ADDRESS),
  ...SIGNING,
}
type CreateFlags = InputValues<typeof createFlags>

const { submit, get, simulate } = paths.transactions

export const create = verb({
  about: 'Launch a token with its pool',
  details:
    'Your keypair is the creator, pays and makes the first buy. Several transactions are sent as a bundle, or one after another, each confirmed before the next; it ends when the pool is live.',
  calls: [paths.pools.create, simulate, submit, get, paths.pools.verify, paths.pools.presets, paths.signer.get],
  flags: createFlags,
  examples: [
    'svc pools create --name "My Token" --symbol MTK --image logo.png --buy 0.5',
    'svc pools create --name Test --symbol TST --image logo.png --preset standard --dry-run -k id.json',
    'svc pools create --name Test --symbol TST --image logo.png --signed --yes',
  ],
  run: async (input, session) => (input.signed ? launchPoolByPlatform : launchPool)(input, session),
})

async function launchPool(input: CreateFlags, session: Session): Promise<CommandOutcome> {
  if (input.idempotency_key !== undefined) {
    throw usage('--idempotency-key is for --signed', { param: '--idempotency-key' })
  }
  if (input.bundle && input.tx_version === '1') {
    throw usage('--bundle is for launches of several transactions: with --tx-version 1 there is one', {
      param: '--bundle',
    })
  }
  const body = await poolBody(input)
  return runSigned<PoolCreated>(session, input, {
    what: poolQuestion(input),
    build: (creator) => session.client.pools.create({ ...body, creator, ...buildFields(input) }),
    secretKeys: ({ required_signers: keys }) => [
      keys.base_mint_secret_key,
      keys.config_secret_key,
      keys.position_nft_secret_key ?? [],
      keys.platform_position_nft_secret_key ?? [],
    ],
    recovery: ({ pool }) =>
      `\`svc pools verify ${pool.address}\` tells whether it is live; if it is not, launch it anew once \`svc tx status\` calls those that were sent failed`,
    async show(data, confirmed) {
      if (confirmed === null) return { ...launchFields(data.pool, data), ...(await presetName(session, input)) }
      return liveFields(
        session,
        input,
        data,
        confirmed.map(({ signature }) => signature),
      )
    },
  })
}

/**
 * Launches with the platform wallet as signer. The preview has no simulation, because the request that builds these
 * transactions also signs them.
 */
async function launchPoolByPlatform(input: CreateFlags, session: Session): Promise<CommandOutcome> {
  for (const name of ['dry_run', 'build_only', 'bundle', 'keypair', 'payer', 'creator'] as const) {
    if (input[name])
      throw usage(`--${name.replace('_', '-')} is for launches that your own keypair signs, not for --signed`)
  }
  const body = await poolBody(input)
  const creator = await platformAddress(session)
  const what = poolQuestion(input)
  await session.ui.preview([what, `  creator   ${creator} (the platform wallet)`])
  return sendByPlatform(session, input, {
    what,
    async sign(options) {
      const { data } = await session.client.pools.create(
        { ...body, ...txVersionField(input), creator, mode: 'signed' },
        options,
      )
      const signatures = data.signatures ?? []
      return {
        signatures,
        transaction: data.transactions.at(-1) ?? '',
        show: (confirmed) =>
          confirmed === null ? launchFields(data.pool, data) : liveFields(session, input, data, signatures),
      }
    },
  })
}

const launchFields = (pool: Pool, created: PoolCreated) => ({ ...poolSummary(pool), ...liquidityOf(created) })

async function liveFields(session: Session, input: CreateFlags, created: PoolCreated, signatures: readonly string[]) {
  const pool = await untilLive(session, created.pool.address, signatures)
  return { ...launchFields(pool, created), ...(await presetName(session, input)) }
}

function poolQuestion({ name, symbol, buy, type, unlocked_liquidity }: CreateFlags): string {
  const liquidity = unlocked_liquidity ? 'left to its creator' : 'locked for good'
  const pool = type === 'damm_v2' ? ` in a pool of its own (liquidity ${liquidity})` : ''
  return `Launch ${name} (${symbol})${pool}${buy === undefined ? '' : ` and buy for ${buy} SOL`}`
}

/**
 * The fields of a `damm_v2` pool: whether its liquidity is locked, and which part of the position is the platform's.
 */
function liquidityOf({ lock_liquidity, platform_position_percentage: percentage }: PoolCreated) {
  if (lock_liquidity === undefined) return {}
  return { lock_liquidity, ...(percentage ? { platform_position_percentage: percentage } : {}) }
}

/** The name of the requested curve, else of the default one, where that can be read. */
async function presetName({ client }: Session, { preset }: CreateFlags): Promise<{ preset?: string }> {
  if (preset !== undefined) return { preset }
  // The launch may be confirmed already, so a failure to read a displayed name must not make it look failed.
  const presets = await client.pools.presets().then(
    ({ data }) => data,
    () => [],
  )
  const name = presets.find(({ is_default }) => is_default)?.name
  return name === undefined ? {} : { preset: name }
}

async function poolBody(input: CreateFlags) {
  const { name, symbol, image, type, preset, buy, description, website, twitter, telegram, unlocked_liquidity } = input
  if (unlocked_liquidity && type !== 'damm_v2') {
    throw usage('--unlocked-liquidity is for --type damm_v2', { param: '--unlocked-liquidity' })
  }
  const buy_amount = buy === undefined ? undefined : solNumber(buy)
  const bytes = await readBytes(image)
  if (bytes.byteLength === 0) {
    throw usage(`${image === '-' ? 'standard input' : image} is empty: an image is PNG, JPEG, GIF or WebP`, {
      param: '--image',
    })
  }
  const lock_liquidity = unlocked_liquidity ? false : undefined
  const optional = { type, preset, buy_amount, description, website, telegram, twitter_url: twitter, lock_liquidity }
  return {
    name,
    symbol,
    image: Buffer.from(bytes).toString('base64'),
    ...(Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)) as {
      [K in keyof typeof optional]?: NonNullable<(typeof optional)[K]>
    }),
  }
}

/** The API takes SOL as a number; an amount that a number cannot hold to the lamport is refused rather than rounded. */
function solNumber(sol: string): number {
  const lamports = rawUnits(sol, LAMPORT_DECIMALS, '--buy')
  const amount = Number(sol)
  if (rawUnits(amount.toFixed(LAMPORT_DECIMALS), LAMPORT_DECIMALS, '--buy') !== lamports) {
    throw usage(`--buy has more digits than can be sent exactly`, { param: '--buy' })
  }
  return amount
}
