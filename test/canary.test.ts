/** The canary tries every instruction that svc builds, notices each that fails, and names the program that fails in it. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  ACTS,
  type CanaryAct,
  failedProgramIn,
  failingInstructions,
  type InstructionName,
  instructionNamesIn,
  parseAct,
} from '../src/chain/program-cache/canary-report.ts'
import { degradations } from '../src/operations/programs/program-state.ts'
import { refuseFailing } from '../src/operations/programs/refuse-failing.ts'
import { TOKEN_PROGRAM } from '../src/solana/program-ids.ts'
import { SQUADS } from '../src/solana/programs/squads.ts'
import { PROGRAMS } from '../src/solana/programs.ts'
import { tryBuilds } from './support/canary-trial.ts'
import { GOLDEN_FILES, goldenTransaction } from './support/golden.ts'
import { hasInstruction, hasProgram, PROGRAMS_DIR } from './support/programs.ts'
import { refusingBuilds } from './support/refusing-builds.ts'
import { itInSoak, oneIn } from './support/runs.ts'
import { idleProgram } from './support/sbf-program.ts'

const { dbc, dammV2, tokenMetadata, core, lock, distributor, squads, presale, lighthouse } = PROGRAMS
const lacksPrograms = Object.values(PROGRAMS).some(({ id }) => !hasProgram(id))

/** `program name` of what svc builds and the canary cannot try, with the reason. */
const UNTRIED: Readonly<Record<string, string>> = {
  [`${dammV2.id} update_delegate_permission`]: 'no public binary has it: DAMM v2 0.2.5 brings it',
}

const keyOf = ({ program, name }: InstructionName) => `${program} ${name}`
const named = ({ id }: { id: string }, names: readonly string[]) => names.map((name) => ({ program: id, name }))
const unique = (keys: readonly string[]) => [...new Set(keys)].sort()

/** The instructions of the golden transactions, which every builder has. */
const GOLDEN = unique(GOLDEN_FILES.flatMap((file) => instructionNamesIn(goldenTransaction(file)).map(keyOf)))

/** The instructions that the source of svc names, without Core, whose SDK chooses them. */
function namedInSource(): string[] {
  return unique(
    [
      ...named(dbc, callsIn('dbc', /\bmethods\s*\.(\w+)\(/g)),
      ...named(dammV2, callsIn('damm-v2', /\bDAMM_V2\.instruction\(\s*'(\w+)'/g)),
      ...named(
        squads,
        callsIn('squads', /'(\w+)'/g).filter((name) => name in SQUADS.rows.instructions),
      ),
      ...named(lock, callsIn('jupiter-lock', /\bJUPITER_LOCK\.instruction\(\s*'(\w+)'/g)),
      ...named(distributor, callsIn('merkle-distributor', /\bMERKLE_DISTRIBUTOR\.instruction\(\s*'(\w+)'/g)),
      ...named(tokenMetadata, callsIn('tokens', /\bTOKEN_METADATA\.instruction\(\s*'(\w+)'/g)),
      ...named(presale, instructionsIn('raise-acts.ts', 'PRESALE')),
      ...named(lighthouse, instructionsIn('guards.ts', 'LIGHTHOUSE')),
    ].map(keyOf),
  )
}

/** The builders of guards, and of raises, which browsers load too, are not among those of the programs. */
const instructionsIn = (file: string, table: string): string[] =>
  [
    ...readFileSync(resolve('src/solana', file), 'utf8').matchAll(
      new RegExp(`\\b${table}\\.instruction\\(\\s*'(\\w+)'`, 'g'),
    ),
  ].map(([, name = '']) => name)

/** The names that a pattern finds in the builders of a program, as its IDL writes them. */
function callsIn(program: string, pattern: RegExp): string[] {
  const folder = resolve('src/chain/programs', program)
  const texts = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
  const calls = texts.flatMap((text) => [...text.matchAll(pattern)].map(([, name = '']) => name))
  return calls.map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
}

const instructionOf = (key: string): InstructionName => {
  const [program = '', name = ''] = key.split(' ')
  return { program, name }
}

describe('the instructions that svc builds', () => {
  it('are those of the golden transactions, except those that no public binary has', () => {
    const source = namedInSource()
    expect(source.length).toBeGreaterThan(45)
    expect([...source, ...GOLDEN.filter((key) => key.startsWith(core.id))].sort()).toEqual(
      [...GOLDEN, ...Object.keys(UNTRIED)].sort(),
    )
  })
})

describe('the program that failed', () => {
  const failed = (...programs: string[]) => programs.map((id) => `Program ${id} failed: custom program error: 0x1`)

  it('is the innermost one that svc builds on', () => {
    expect(failedProgramIn(failed(dammV2.id, dbc.id))).toBe(dammV2.id)
    expect(failedProgramIn(failed(TOKEN_PROGRAM, lock.id, dbc.id))).toBe(lock.id)
    expect(failedProgramIn([`Program ${lock.id} invoke [2]`, `Program ${lock.id} success`, ...failed(dbc.id)])).toBe(
      dbc.id,
    )
  })

  it('is unknown if the log shows no failure of one, whatever programs write into it', () => {
    const forged = [`Program log: Program ${dammV2.id} failed: it`, `Program log: x\nProgram ${dammV2.id} failed: it`]
    for (const logs of [[], failed(TOKEN_PROGRAM), forged]) expect(failedProgramIn(logs)).toBeNull()
  })

  it('is that of the instruction in reports of older trials, and only a program of svc in any report', () => {
    const act = { act: 'migrate' as const, status: 'failed' as const, error: 'x', used: [] }
    const instruction = { program: dbc.id, name: 'migration_damm_v2' }
    expect(failingInstructions([{ ...act, instruction }])).toMatchObject([{ ...instruction, failed_program: dbc.id }])
    const parsed = (failed_program: unknown) => parseAct(JSON.stringify({ ...act, instruction, failed_program }))
    expect([dammV2.id, TOKEN_PROGRAM, 7].map((each) => parsed(each)?.failed_program)).toEqual([dammV2.id, null, null])
  })
})

describe.skipIf(lacksPrograms)('the canary', () => {
  it('passes every act, and uses every instruction that svc builds', async () => {
    const acts = await tryBuilds()
    expect(acts.filter(({ status }) => status !== 'passed')).toEqual([])
    expect(acts.map(({ act }) => act)).toEqual(ACTS)
    expect(unique(acts.flatMap(({ used }) => used.map(keyOf)))).toEqual(GOLDEN)
    expect(hasInstruction(dammV2.id, 'UpdateDelegatePermission'), 'the canary can try it now').toBe(false)
  })

  itInSoak('notices each instruction that a build refuses', async () => {
    let left = GOLDEN.map(instructionOf).filter(({ program }) => program !== lighthouse.id)
    while (left.length > 0) {
      const acts = await tryBuilds(refusingBuilds(left))
      const noticed = requireHonest(acts, left)
      expect(noticed, `unnoticed: ${left.map(({ name }) => name).join(', ')}`).not.toEqual([])
      // What needs them can fail only in the next round.
      left = left.filter((each) => !noticed.includes(keyOf(each)))
    }
  })

  it.each(
    oneIn<[what: string, build: Uint8Array, found: string[], error: string]>(2, [
      ['stops nothing', idleProgram(), ['assert_account_delta'], 'Lighthouse: the guard stopped nothing'],
      // It takes no instruction that another program does not have.
      ['fails in every instruction', lockBuild(), ['memory_write'], 'Lighthouse: '],
    ]),
  )(
    'refuses guards by a build of Lighthouse that %s, and nothing else',
    { tags: 'sampled' },
    async (_, build, found, error) => {
      const acts = await tryBuilds(new Map([[lighthouse.id, build]]))
      const failing = failingInstructions(acts)
      expect(failing).toMatchObject(
        ['guard a wallet', 'guard a token account'].flatMap((act) =>
          found.map((name) => ({ act, program: lighthouse.id, name, failed_program: lighthouse.id })),
        ),
      )
      expect(failing.every((each) => each.error.startsWith(error))).toBe(true)
      expect(acts.filter(({ status }) => status !== 'passed')).toHaveLength(2)
    },
  )

  itInSoak('names DAMM v2 if the migration of DBC fails in it, and refuses the migration', async () => {
    const [broken] = named(dammV2, ['initialize_pool'])
    const acts = await tryBuilds(refusingBuilds([broken!]))
    const migration = { program: dbc.id, name: 'migration_damm_v2', failed_program: dammV2.id }
    const failing = failingInstructions(acts)
    expect(failing).toMatchObject([
      { act: 'migrate', ...migration, error: expect.stringMatching(/^Meteora DAMM v2: /) },
    ])
    expect(acts.filter(({ status }) => status === 'failed')).toHaveLength(1)

    const programs = { failing: async () => failing, degradations: async () => [], forget: () => undefined }
    await expect(refuseFailing({ programs }, goldenTransaction('dbc-migrate.json'))).rejects.toMatchObject({
      message: expect.stringContaining(
        'Meteora DAMM v2 has changed on the cluster, and the instruction migration_damm_v2 of Meteora DBC, which calls it, now fails (tried as: migrate; Meteora DAMM v2: ',
      ),
      details: {
        reason: 'program_changed',
        program: dbc.id,
        instruction: 'migration_damm_v2',
        failed_program: dammV2.id,
      },
    })
    await refuseFailing({ programs }, goldenTransaction('dbc-swap-buy.json'))

    const builds = [dbc, dammV2].map(({ id, name }) => ({
      ...{ id, name, slot: 1, authority: null, sha256: 'f'.repeat(64), size: 1, differences: [] },
    }))
    const key = builds
      .map(({ id, sha256 }) => `${id}:${sha256}`)
      .sort()
      .join(' ')
    const state = { genesis: '', looked_at: 0, builds, trials: [{ key, tried_at: 0, acts, error: null }] }
    expect(degradations(state)).toEqual([
      expect.stringContaining('migrate (Meteora DAMM v2, called by Meteora DBC, migration_damm_v2)'),
    ])
  })

  it.each(
    oneIn<{ missing: (typeof PROGRAMS)[keyof typeof PROGRAMS][] }>(3, [
      { missing: [dbc, squads] },
      { missing: [dammV2, core, distributor] },
      { missing: [tokenMetadata, lock, presale, lighthouse] },
    ]),
  )(
    'finds nothing about others if the cluster lacks $missing.0.name and others',
    { tags: 'sampled' },
    async ({ missing }) => {
      const acts = await tryBuilds(new Map(missing.map(({ id }) => [id, null])))
      expect(acts.filter(({ status }) => status === 'failed')).toEqual([])
      expect(acts.some(({ status }) => status === 'untried')).toBe(true)
      const used = new Set(acts.flatMap((act) => act.used.map(({ program }) => program)))
      expect(missing.filter(({ id }) => used.has(id))).toEqual([])
      const others = Object.values(PROGRAMS).filter((each) => !missing.includes(each))
      const blocked = others.filter((each) => missing.some(({ id }) => needs(each, id)))
      expect(others.filter((each) => !used.has(each.id))).toEqual(blocked)
    },
  )
})

function lockBuild(): Uint8Array {
  return hasProgram(lock.id) ? readFileSync(join(PROGRAMS_DIR, `${lock.id}.so`)) : Buffer.alloc(0)
}

/** A launch without a curve has metadata of Token Metadata, so its pool needs both programs. */
const needs = ({ id }: { id: string }, missing: string) => id === dammV2.id && missing === tokenMetadata.id

/** Returns what fails in itself. Every failure must come from an instruction that the builds refuse. */
function requireHonest(acts: readonly CanaryAct[], refused: readonly InstructionName[]): string[] {
  const failing = failingInstructions(acts)
  const own = failing.filter(({ program, failed_program }) => program === failed_program).map(keyOf)
  expect(own.filter((key) => !refused.some((each) => keyOf(each) === key))).toEqual([])
  const culprits = failing.map(({ failed_program }) => failed_program)
  expect(culprits.filter((culprit) => !refused.some(({ program }) => program === culprit))).toEqual([])
  expect(acts.filter(({ status, instruction }) => status === 'failed' && instruction === null)).toEqual([])
  return own
}
