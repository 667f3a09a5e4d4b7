/** `svc pools create`: a token launched with its pool, signed here or by the platform wallet, until it is live. */
import { paths } from '../../src/api/paths.ts'
import type { PoolCreated } from '../../src/api/pools.ts'
import { LAMPORT_DIGITS, rawUnits } from '../amounts.ts'
import { choice, flag, type Outcome, required, type Session, text, type Values, verb } from '../command.ts'
import { platformAddress, signedOnce } from '../signing/by-platform.ts'
import { dryOf, SIGNING } from '../signing/flags.ts'
import { follow } from '../signing/following.ts'
import { confirmOn, didFail } from '../signing/sign-and-submit.ts'
import { signAndSubmitSeveral } from '../signing/sign-several.ts'
import { readBytes } from '../ui/files.ts'
import { failure, usage } from '../ui/problem.ts'
import { summaryOf, untilLive } from './verify.ts'

const url = { placeholder: 'URL' }
const flags = {
  name: required(text('Name: 1 to 20 letters, digits or spaces')),
  symbol: required(text('Symbol: 1 to 10 letters or digits')),
  image: required(text('Image of the token: PNG, JPEG, GIF or WebP; - for standard input', { placeholder: 'FILE' })),
  type: choice(['dbc', 'damm_v2'], 'Launch curve (dbc, the default), or a pool of the whole supply (damm_v2)'),
  unlocked_liquidity: flag(
    'With damm_v2: the creator can take the liquidity out at any time; otherwise it is locked for good',
  ),
  preset: text('Curve, see `svc pools presets`', { placeholder: 'NAME' }),
  buy: text("SOL that the creator's first buy spends", { placeholder: 'SOL' }),
  description: text('Description, up to 500 characters'),
  website: text('Website', url),
  twitter: text('Profile on X', url),
  telegram: text('Group or channel on Telegram', url),
  bundle: flag('Send the transactions as a bundle; so is done by itself where relay-url is set'),
  signed: flag('The platform wallet creates it and signs, instead of your keypair'),
  idempotency_key: text('With --signed: repeat under this key what an earlier run began', { placeholder: 'KEY' }),
  ...SIGNING,
}
type Given = Values<typeof flags>

const { submit, get, simulate } = paths.transactions

export const create = verb({
  about: 'Launch a token with its pool',
  details:
    'Your keypair is the creator, pays and makes the first buy. Several transactions are sent as a bundle, or one after another, each confirmed before the next; it ends when the pool is live.',
  calls: [paths.pools.create, simulate, submit, get, paths.pools.verify, paths.pools.presets, paths.signer.get],
  flags,
  examples: [
    'svc pools create --name "My Token" --symbol MTK --image logo.png --buy 0.5',
    'svc pools create --name Test --symbol TST --image logo.png --preset standard --dry-run -k id.json',
    'svc pools create --name Test --symbol TST --image logo.png --signed --yes',
  ],
  run: async (input, session) => (input.signed ? createSigned : createHere)(input, session),
})

async function createHere(input: Given, session: Session): Promise<Outcome> {
  if (input.idempotency_key !== undefined) throw onlySigned('--idempotency-key')
  const body = await bodyOf(input)
  return signAndSubmitSeveral<PoolCreated>(session, input, {
    what: whatOf(input),
    build: (creator) => session.client.pools.create({ ...body, creator, ...dryOf(input) }),
    secretKeys: ({ required_signers: keys }) => [
      keys.base_mint_secret_key,
      keys.config_secret_key,
      keys.position_nft_secret_key ?? [],
      keys.platform_position_nft_secret_key ?? [],
    ],
    goOn: ({ pool }) =>
      `\`svc pools verify ${pool.address}\` tells whether it is live; if it is not, the rest can no longer land after about two minutes: launch it anew`,
    async show(data, landed) {
      const { address } = data.pool
      const signatures = landed?.map(({ signature }) => signature)
      const pool = signatures === undefined ? data.pool : await untilLive(session, address, signatures)
      return { ...summaryOf(pool), ...liquidityOf(data), ...(await presetOf(session, input)) }
    },
  })
}

async function createSigned(input: Given, session: Session): Promise<Outcome> {
  for (const name of ['dry_run', 'build_only', 'bundle', 'keypair'] as const) {
    if (input[name])
      throw usage(`--${name.replace('_', '-')} is for launches that your own keypair signs, not for --signed`)
  }
  const body = await bodyOf(input)
  const creator = await platformAddress(session)
  await session.ui.preview([whatOf(input), `  creator   ${creator} (the platform wallet)`])
  await confirmOn(session, whatOf(input), await session.cluster())
  const key = input.idempotency_key ?? crypto.randomUUID()
  const { data } = await signedOnce(session, key, (options) =>
    session.client.pools.create({ ...body, creator, mode: 'signed' }, options),
  )
  const signatures = data.signatures ?? []
  const last = signatures.at(-1)
  if (last === undefined) throw failure('the API answered without signatures: it did not sign')
  if (input.wait === 'none') {
    return { data: { ...summaryOf(data.pool), ...liquidityOf(data), signatures, lifecycle: 'submitted' } }
  }
  const landed = await follow(session, last, input.wait ?? 'confirmed')
  if (landed.lifecycle === 'failed') throw await didFail(session, data.transactions.at(-1) ?? '', landed)
  const { lifecycle, slot } = landed
  const pool = await untilLive(session, data.pool.address, signatures)
  const shown = { ...summaryOf(pool), ...liquidityOf(data), ...(await presetOf(session, input)) }
  return { data: { ...shown, signatures, lifecycle, slot } }
}

const onlySigned = (shown: string) => usage(`${shown} is for --signed`, { param: shown })

function whatOf({ name, symbol, buy, type, unlocked_liquidity }: Given): string {
  const liquidity = unlocked_liquidity ? 'left to its creator' : 'locked for good'
  const pool = type === 'damm_v2' ? ` in a pool of its own (liquidity ${liquidity})` : ''
  return `Launch ${name} (${symbol})${pool}${buy === undefined ? '' : ` and buy for ${buy} SOL`}`
}

/** Of a `damm_v2` pool: whether its liquidity is locked, and which part of the position is the platform's. */
function liquidityOf({ lock_liquidity, platform_position_percentage: percentage }: PoolCreated) {
  if (lock_liquidity === undefined) return {}
  return { lock_liquidity, ...(percentage ? { platform_position_percentage: percentage } : {}) }
}

/** The name of the curve; where none is given, the configured one, as far as it can be read. */
async function presetOf({ client }: Session, { preset }: Given): Promise<{ preset?: string }> {
  if (preset !== undefined) return { preset }
  // By now the launch may have landed: nothing that is only told must make it look failed.
  const presets = await client.pools.presets().then(
    ({ data }) => data,
    () => [],
  )
  const name = presets.find(({ is_default }) => is_default)?.name
  return name === undefined ? {} : { preset: name }
}

async function bodyOf(input: Given) {
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

/** The API takes SOL as a number; one that a number does not hold to the lamport is refused, not rounded. */
function solNumber(sol: string): number {
  const lamports = rawUnits(sol, LAMPORT_DIGITS, '--buy')
  const amount = Number(sol)
  if (rawUnits(amount.toFixed(LAMPORT_DIGITS), LAMPORT_DIGITS, '--buy') !== lamports) {
    throw usage(`--buy has more digits than can be sent exactly`, { param: '--buy' })
  }
  return amount
}
