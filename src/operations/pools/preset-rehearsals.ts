/** Tests whether the program accepts a preset, on a chain in memory or at the node, once for each content and program. */
import type { PresetValidation } from '../../api/pool-previews.ts'
import type { ExplainedError } from '../../chain/errors/index.ts'
import {
  type LaunchRehearsal,
  launchProgramHash,
  type QuoteAccounts,
  readQuoteAccounts,
  rehearseDbcLaunch,
  tokenBadgeAddress,
  tryConfigAtNode,
} from '../../chain/programs/dbc/index.ts'
import { accountsAt } from '../../chain/sending/runs.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { type Rent, readRentSysvar } from '../../solana/cluster-settings.ts'
import { RENT_SYSVAR, WRAPPED_SOL } from '../../solana/program-ids.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { isTokenProgram } from '../../solana/token-programs.ts'
import type { NamedCurve } from './presets.ts'

type RehearsalServices = Pick<Context, 'chain' | 'config' | 'log'>
type Curve = NamedCurve['curve']

/** Errors of a cached program that is older than the transaction. They say nothing about the preset. */
const OLD_PROGRAM_CODES = [101, 102]
/** Error with which a program that knows no badges refuses a quote that has one. */
const INVALID_QUOTE_MINT = 6008
/** Failures of a run without an error code of the program. Any other failure means that the cache is unusable. */
const FAILED_RUNS = ['ComputationalBudgetExceeded', 'ProgramFailedToComplete']

/** Rehearsals of a curve by their conditions. A curve object is computed once for each content of a preset. */
const rehearsals = new WeakMap<Curve, Map<string, Promise<LaunchRehearsal>>>()
const MOST_REHEARSALS_KEPT = 32
/** Clusters, by genesis hash, whose node has run the config of a curve. */
const takenByNodes = new WeakMap<Curve, Set<string>>()
let lastRehearsal: Promise<unknown> = Promise.resolve()

interface RehearsalTerms {
  programsDir: string
  /** SHA-256 of the program. */
  hash: string
  buyLamports: bigint
  quote: QuoteAccounts
  rent?: Rent | undefined
}

function rehearseCurve(curve: Curve, { hash, ...terms }: RehearsalTerms): Promise<LaunchRehearsal> {
  const kept = rehearsals.get(curve) ?? new Map<string, Promise<LaunchRehearsal>>()
  rehearsals.set(curve, kept)
  const { lamportsPerByte, exemptionThreshold } = terms.rent ?? {}
  const { mint, badge } = terms.quote
  const key = [hash, terms.buyLamports, mint?.owner, badge !== null, lamportsPerByte, exemptionThreshold].join(' ')
  const known = kept.get(key)
  if (known !== undefined) return known
  if (kept.size >= MOST_REHEARSALS_KEPT) kept.clear()
  // Rehearsals run one after another, because each blocks the event loop for some tens of milliseconds.
  const rehearsed = lastRehearsal.then(() => rehearseDbcLaunch({ curve, ...terms }))
  lastRehearsal = rehearsed.catch(() => kept.delete(key))
  kept.set(key, rehearsed)
  return rehearsed
}

/**
 * Returns whether the program accepts the preset. `payer` would pay in the simulation by the node, which is used if
 * the cache lacks the program.
 */
export async function validatePreset(
  services: RehearsalServices,
  { curve }: NamedCurve,
  payer: string | null,
): Promise<PresetValidation> {
  const { programsDir } = services.config
  const hash = await launchProgramHash(programsDir)
  const quote = await readQuote(services.chain, curve)
  const atNode = { curve, payer, tokenBadge: quote.badge === null ? null : await tokenBadgeAddress(curve.quoteMint) }
  if (hash === null) return validationByNode(services, atNode)
  const { failure } = await rehearseCurve(curve, { programsDir, hash, buyLamports: rehearsedBuy(curve), quote })
  const validation = validationFrom(failure, hash, quote)
  return validation.status === 'unknown' ? validationByNode(services, atNode, validation) : validation
}

/**
 * Throws bad_request naming the preset if the program refuses it. If no rehearsal is possible, that is logged and the
 * preset passes.
 */
export async function requireTakenPreset(services: RehearsalServices, named: NamedCurve, payer: string): Promise<void> {
  // The embedded chain runs the program of the cache anyway.
  if (services.chain.cluster.kind === 'embedded') return
  const validation = await validatePreset(services, named, payer)
  const { status, by, reason } = validation
  const about = { preset: named.name, ...validation }
  if (status === 'unknown') services.log.warn(about, 'a preset is used without a rehearsal')
  if (status !== 'refused') return
  const where = by === 'node' ? 'at the RPC node' : 'run in memory'
  throw badRequest(
    `The program refuses the preset ${named.name} (${where}): ${reason}: change it in the file that pools.presets names`,
    { param: 'preset', details: { ...about } },
  )
}

/** Rehearses a launch and its first buy with the cluster's rent. Returns null if the cache lacks the program. */
export async function rehearseLaunch(
  { chain, config }: RehearsalServices,
  { curve }: NamedCurve,
  buyLamports: bigint,
): Promise<LaunchRehearsal | null> {
  const { programsDir } = config
  const hash = await launchProgramHash(programsDir)
  if (hash === null) return null
  const rent = await clusterRent(chain)
  const quote = await readQuote(chain, curve)
  return rehearseCurve(curve, { programsDir, hash, buyLamports, quote, rent })
}

/** Reads mint and badge of a quote other than SOL. The mint is null for SOL, and if the cluster lacks it. */
async function readQuote(chain: Context['chain'], { quoteMint }: Curve): Promise<QuoteAccounts> {
  if (quoteMint === WRAPPED_SOL) return { mint: null, badge: null }
  const { mint, badge } = await readQuoteAccounts(chain, quoteMint)
  return mint !== null && isTokenProgram(mint.owner) ? { mint, badge } : { mint: null, badge: null }
}

async function clusterRent(chain: Context['chain']): Promise<Rent | undefined> {
  const [sysvar = null] = await accountsAt(chain, [RENT_SYSVAR])
  return sysvar === null ? undefined : readRentSysvar(sysvar.data)
}

/** A hundredth of the amount that fills the curve. */
const rehearsedBuy = ({ thresholdLamports }: Curve) => thresholdLamports / 100n + 1n

function validationFrom(
  failure: ExplainedError | null,
  program_sha256: string,
  { badge }: Pick<QuoteAccounts, 'badge'>,
): PresetValidation {
  const found = { by: 'embedded_chain' as const, program_sha256 }
  if (failure === null) return { status: 'accepted', ...found, reason: null }
  const isOld = (code: number) => OLD_PROGRAM_CODES.includes(code) || (badge !== null && code === INVALID_QUOTE_MINT)
  const isRefused = failure.code === null ? FAILED_RUNS.includes(failure.name) : !isOld(failure.code)
  return { status: isRefused ? 'refused' : 'unknown', ...found, reason: reasonOf(failure) }
}

async function validationByNode(
  { chain }: RehearsalServices,
  { curve, payer, tokenBadge }: { curve: Curve; payer: string | null; tokenBadge: string | null },
  before: PresetValidation | null = null,
): Promise<PresetValidation> {
  const program_sha256 = before?.program_sha256 ?? null
  const taken = takenByNodes.get(curve) ?? new Set<string>()
  takenByNodes.set(curve, taken)
  try {
    const genesis = await chain.genesisHash()
    if (!taken.has(genesis)) {
      if (payer === null) throw new Error('the node needs a platform wallet to simulate it, and there is none')
      const failure = await tryConfigAtNode(chain, { curve, payer, tokenBadge })
      const isRefused = failure?.program === PROGRAMS.dbc.name
      const status = isRefused ? 'refused' : 'unknown'
      if (failure !== null) return { status, by: 'node', program_sha256, reason: reasonOf(failure) }
      taken.add(genesis)
    }
    return { status: 'accepted', by: 'node', program_sha256, reason: null }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { status: 'unknown', by: before?.by ?? null, program_sha256, reason: before?.reason ?? reason }
  }
}

const reasonOf = ({ name, message, hint }: ExplainedError): string =>
  `${name}: ${message}${hint === null ? '' : ` (${hint})`}`
