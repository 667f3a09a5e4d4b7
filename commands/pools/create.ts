/** `svc pools create`: launches a token with its pool, signed by the user's keypair or the platform wallet, and waits until it is live. */

import { paths } from '../../src/api/paths.ts'
import type { Pool, PoolCreated } from '../../src/api/pools.ts'
import { percentOf, quoteUnitOf } from '../../src/solana/launch-curve.ts'
import { type CommandOutcome, verb } from '../cli/command.ts'
import type { PullReport, Session } from '../cli/session.ts'
import { buildFields, termsField } from '../signing/flags.ts'
import { forecastFunds, requireFunds, totalLines } from '../signing/funds.ts'
import { loadMintKey } from '../signing/mint-keypair.ts'
import { platformAddress, sendByPlatform } from '../signing/platform-wallet.ts'
import { previewLine } from '../signing/preview.ts'
import { runSigned } from '../signing/run.ts'
import { withNext } from '../signing/run-outcomes.ts'
import type { AgreedBuild } from '../signing/signed-run.ts'
import { signingWallet } from '../signing/signing-wallet.ts'
import { failure, usage } from '../ui/problem.ts'
import { warnOfHttp } from '../uri-warnings.ts'
import { allPresets } from './all-presets.ts'
import { type PoolBody, poolBody, secretKeysOf } from './launch-body.ts'
import { launchAnswer, launchDemand } from './launch-demand.ts'
import { type CreateFlags, createFlags } from './launch-flags.ts'
import { launchList } from './launch-list.ts'
import { showRehearsal } from './rehearse.ts'
import { continueLaunch, type SingleLaunch, sendLaunch, withLaunch } from './single-launch.ts'
import { poolSummary, untilLive } from './verify.ts'

const { submit, get, simulate, forecast } = paths.transactions

export const create = verb({
  about: 'Launch a token with its pool',
  details:
    'Your keypair is the creator, pays and makes the first buy. Several transactions are sent as a bundle, or one after another, each confirmed before the next. What all of them take is shown first, and a wallet that cannot pay it signs nothing. The command ends when the pool is live; after an interruption, the same command continues, and nothing is paid twice. With --rehearse nothing is sent: the launch, a buyer who fills the curve, the migration and all claims run on a copy of the cluster, and what each party paid and received is printed. --from launches a list, which continues in the same way. --mint-keypair names the key of the mint, for example one that `svc tokens grind` found; it signs here and is never sent or stored.',
  calls: [
    paths.pools.create,
    paths.pools.rehearse,
    simulate,
    forecast,
    submit,
    get,
    paths.service.cluster,
    paths.pools.verify,
    paths.proposals.get,
    paths.pools.presets,
    paths.signer.get,
    paths.accounts.get,
  ],
  flags: createFlags,
  examples: [
    'svc pools create --name "My Token" --symbol MTK --image logo.png --buy 0.5',
    'svc pools create --name Test --symbol TST --image logo.png --preset standard --dry-run -k id.json',
    'svc pools create --name Test --symbol TST --image logo.png --signed --yes',
    'svc pools create --name Test --symbol TST --image logo.png --creator 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g --payer 6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78 --build-only',
    'svc pools create --name Test --symbol TST --image logo.png --buy 0.5 --rehearse',
    'svc pools create --name Own --symbol OWN --image logo.png --mint-keypair mint.json',
    'svc pools create --from launches.csv --yes',
    'svc pools create --from launches.csv --dry-run',
  ],
  async run(input, session) {
    const { website, twitter, telegram } = input
    warnOfHttp(session, { '--website': website, '--twitter': twitter, '--telegram': telegram })
    await offerPull(session)
    if (input.from !== undefined) return launchList(session, input, input.from)
    if (input.rehearse) {
      return showRehearsal(session, input, await poolBody(input, (await loadMintKey(input))?.address))
    }
    return shownLaunch(await (input.signed ? launchPoolByPlatform : launchPool)(input, session), input)
  },
})

async function launchPool(input: CreateFlags, session: Session): Promise<CommandOutcome> {
  const payer = input.squads === undefined ? await resolveSponsor(input, session) : undefined
  const mintKey = await loadMintKey(input)
  const ownKeys = mintKey === undefined ? [] : [mintKey.secretKey]
  const own = await poolBody(input, mintKey?.address)
  const body = { ...own, ...(payer === undefined ? {} : { payer }) }
  const flags = payer === undefined ? input : { ...input, payer: undefined }
  const what = poolQuestion(input)
  const send = (launch: SingleLaunch | null) =>
    runSigned<PoolCreated>(session, flags, {
      what,
      showsTotal: true,
      async build(creator) {
        const asked = { ...body, creator, ...buildFields(input) }
        return launch === null ? session.client.pools.create(asked) : { data: await launch.request(asked) }
      },
      demand: (of, data) =>
        launchDemand(session, payer === undefined ? of : { ...of, payer }, {
          creator: of.payer,
          body,
          bounds: input,
          answer: launchAnswer(data),
        }),
      names: ({ pool }) => poolNames(pool),
      secretKeys: (data) => [...secretKeysOf(data), ...ownKeys],
      ...(launch === null ? {} : { send: (agreed: AgreedBuild<PoolCreated>) => sendLaunch(session, launch, agreed) }),
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
  if (payer !== undefined || input.build_only || input.squads !== undefined) return send(null)
  const creator = await signingWallet(session, flags)
  return withLaunch(session, input, { creator, body: own, ownKeys }, ({ begun, ...launch }) =>
    begun === null
      ? send({ ...launch, begun })
      : continueLaunch(
          session,
          { ...launch, begun },
          {
            what,
            show: async (address, signatures) => ({
              ...poolSummary(await untilLive(session, address, signatures)),
              ...(await presetName(session, input)),
            }),
          },
        ),
  )
}

/**
 * Launches with the platform wallet as signer. The preview has no simulation, because the request that builds these
 * transactions also signs them; the same request is refused if the wallet cannot pay for all.
 */
async function launchPoolByPlatform(input: CreateFlags, session: Session): Promise<CommandOutcome> {
  const body = await poolBody(input, undefined)
  const creator = await platformAddress(session)
  const what = poolQuestion(input)
  // A request of an earlier run under this key may be paid already.
  const funds = input.idempotency_key === undefined ? await signedFunds(session, input, { ...body, creator }) : null
  await session.ui.preview([
    what,
    previewLine('creator', `${creator} (the platform wallet)`),
    ...(funds === null ? [] : totalLines(funds, creator)),
  ])
  if (funds !== null) requireFunds(funds, await session.cluster())
  return sendByPlatform(session, input, {
    what,
    async sign(options) {
      const { data } = await session.client.pools.create(
        { ...body, ...termsField(input), creator, mode: 'signed' },
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

/** What an unsigned build of the same launch costs. If a relay is set, that pays a tip too. */
async function signedFunds(session: Session, input: CreateFlags, body: PoolBody & { creator: string }) {
  const { data } = await session.client.pools.create({ ...body, ...termsField(input), dry_run: true })
  return forecastFunds(session, data.transactions)
}

/** What the new accounts of a launch are. */
const poolNames = ({ address, base_mint, config }: Pool) => ({
  [address]: 'the pool',
  [base_mint]: 'the mint',
  ...(config === null ? {} : { [config]: 'the config' }),
})

/** A launch for people: its price and progress with their units, and what they do next. */
function shownLaunch(outcome: CommandOutcome, { quote }: CreateFlags): CommandOutcome {
  const { record } = outcome
  if (record === undefined) return outcome
  const { price, curve_progress } = record
  const shown = {
    ...record,
    ...(typeof price === 'string'
      ? { price: `${price} ${quoteUnitOf(quote, null).unit.replace('raw units of ', '')}` }
      : {}),
    ...(typeof curve_progress === 'number' ? { curve_progress: percentOf(curve_progress) } : {}),
  }
  return withNext({ ...outcome, record: shown }, ({ address, status, type }) =>
    status !== 'live'
      ? []
      : [`svc pools swap ${address} --buy 0.1`, ...(type === 'dbc' ? [`svc pools watch ${address}`] : [])],
  )
}

const launchFields = (pool: Pool, created: PoolCreated) => ({ ...poolSummary(pool), ...liquidityOf(created) })

async function liveFields(session: Session, input: CreateFlags, created: PoolCreated, signatures: readonly string[]) {
  const pool = await untilLive(session, created.pool.address, signatures)
  return { ...launchFields(pool, created), ...(await presetName(session, input)) }
}

function poolQuestion({ name, symbol, buy, type, quote, unlocked_liquidity }: CreateFlags): string {
  const liquidity = unlocked_liquidity ? 'left to its creator' : 'locked for good'
  const pool = type === 'damm_v2' ? ` in a pool of its own (liquidity ${liquidity})` : ''
  return `Launch ${name} (${symbol})${pool}${buy === undefined ? '' : ` and buy for ${buy} ${quote === undefined ? 'SOL' : `of ${quote}`}`}`
}

/**
 * The fields of a `damm_v2` pool: whether its liquidity is locked, and which part of the position is the platform's.
 */
function liquidityOf({ lock_liquidity, platform_position_percentage: percentage }: PoolCreated) {
  if (lock_liquidity === undefined) return {}
  return { lock_liquidity, ...(percentage ? { platform_position_percentage: percentage } : {}) }
}

/** The name of the requested curve, or of the default one if that can be read. */
async function presetName({ client }: Session, { preset }: CreateFlags): Promise<{ preset?: string }> {
  if (preset !== undefined) return { preset }
  // The launch may be confirmed already, so a failure to read a displayed name must not make it look failed.
  const presets = await allPresets(client).catch(() => [])
  const name = presets.find(({ is_default }) => is_default)?.name
  return name === undefined ? {} : { preset: name }
}

/**
 * Returns the payer if it is not the creator. The creator is --creator or the owner of --keypair; without them,
 * --payer is both. Throws a usage problem if the launch would have to be signed here.
 */
async function resolveSponsor(
  { payer, creator, keypair, build_only, dry_run }: CreateFlags,
  session: Session,
): Promise<string | undefined> {
  if (payer === undefined) return undefined
  const launches = creator ?? (keypair === undefined ? payer : await session.wallet.address(keypair))
  if (launches === payer) return undefined
  if (build_only || dry_run) return payer
  throw usage(`${payer} pays and ${launches} launches: both must sign`, {
    param: '--payer',
    next: 'add --build-only, sign with `svc tx sign` where each key is, and send it with `svc tx submit`',
  })
}

// Offers to fill the program cache before a launch on the embedded chain, which needs programs that are not there.

const DEFAULT_CLUSTER = 'mainnet-beta'

/** Asks on a terminal. Without one nothing happens here, and the error of the launch names the command. */
async function offerPull({ localnet, ui }: Session): Promise<void> {
  if (!ui.attended) return
  const { missing, owner } = await localnet.missingPrograms()
  if (missing.length === 0) return
  ui.note(`A launch needs ${missing.map(({ name }) => name).join(', ')}, which the program cache lacks.`)
  const answer = await ui.ask({
    message: `Cluster or RPC URL to fetch from (Enter for ${DEFAULT_CLUSTER})`,
    placeholder: DEFAULT_CLUSTER,
    check: () => undefined,
  })
  const programs = missing.map(({ id }) => id)
  const report = await localnet.pull({ programs, cluster: answer || DEFAULT_CLUSTER }, ui.progress('Pulling'))
  requirePulled(report)
  for (const { name, size, sha256 } of pulledPrograms(report)) ui.note(`${name}: ${size} bytes, SHA-256 ${sha256}`)
  if (owner === null) return
  throw failure(`process ${owner} serves the embedded chain, and loads the new programs when it starts`, {
    next: 'restart it, then run the same command again',
  })
}

const pulledPrograms = ({ items }: PullReport) => items.filter(({ kind }) => kind === 'program')

function requirePulled(report: PullReport): void {
  const failed = pulledPrograms(report).find(({ status }) => status === 'failed' || status === 'missing')
  if (failed === undefined) return
  throw failure(`${failed.name} was not fetched: ${failed.error ?? `${report.source} does not have it`}`, {
    next: 'try `svc localnet pull` with another --url, or --from a folder',
  })
}
