/** `svc programs`: the builds of a cluster, their trial, and pins that a pull leaves as they are. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ACTS } from '../../src/chain/program-cache/canary-report.ts'
import { buildHash } from '../../src/chain/program-cache/elf.ts'
import { versionFile } from '../../src/chain/program-cache/versions.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { TESTED_BUILDS } from '../../src/solana/tested-builds.ts'
import { hasProgram, PROGRAMS_DIR } from '../support/programs.ts'
import { commandLine } from './command-line.ts'

const cli = commandLine()
const { core } = PROGRAMS
const lacksPrograms = Object.values(PROGRAMS).some(({ id }) => !hasProgram(id))
const file = (folder: string) => join(folder, `${core.id}.so`)

describe.skipIf(lacksPrograms)('svc programs', () => {
  it('says that a cluster was never asked, and which command asks', async () => {
    const { stderr } = await cli.svc(['programs', 'list'])
    expect(stderr).toContain('embedded was never asked: `svc programs check` does')
  })

  it('shows the builds that the cluster runs, and tries all that svc builds on', async () => {
    const env = { SVC_PROGRAMS_DIR: PROGRAMS_DIR }
    const checked = await cli.json(['programs', 'check', '--again'], { env })
    expect(checked).toMatchObject({ cluster: 'embedded', trial_error: null, refused: [] })
    expect(checked.programs.map(({ id }: { id: string }) => id)).toEqual(Object.values(PROGRAMS).map(({ id }) => id))
    expect(checked.acts.map(({ act }: { act: string }) => act)).toEqual(ACTS)
    expect(checked.acts.filter(({ status }: { status: string }) => status !== 'passed')).toEqual([])
    const { stdout, stderr } = await cli.svc(['programs', 'list'], { env })
    expect(stdout).toMatch(/NAME +SLOT +TESTED +AUTHORITY +SHA256/)
    expect(stdout).toMatch(/Metaplex Core +[\d,]+ +(yes|no) +nobody +[0-9a-f]{64}/)
    expect(stderr).toMatch(new RegExp(`Tried \\S+.*: ${ACTS.length} passed, 0 failed`))
    const doctor = await cli.svc(['doctor'], { env })
    expect(doctor.stdout).toMatch(/programs +9 programs of the cluster/)
  }, 60_000)

  it('pins builds, which a pull leaves as they are and keeps the new build beside them', async () => {
    const [cache, from] = [join(cli.home, 'cache'), join(cli.home, 'from')]
    for (const folder of [cache, from]) {
      mkdirSync(folder)
      cpSync(file(PROGRAMS_DIR), file(folder))
    }
    const old = readFileSync(file(cache))
    // Sections are at the end of the file, so a longer file is another build.
    const next = Buffer.concat([old, Buffer.from([1])])
    writeFileSync(file(from), next)
    const env = { SVC_PROGRAMS_DIR: cache }
    const pull = ['localnet', 'pull', '--from', from, '--programs', 'core']
    await cli.refused(['programs', 'pin', 'dbc'], 'Meteora DBC is not in the program cache', 2, { env })
    expect((await cli.json(['programs', 'pin'], { env })).programs).toEqual([
      { id: core.id, name: 'Metaplex Core', sha256: buildHash(old), pinned: true },
    ])
    expect((await cli.json(pull, { env })).items[0]).toMatchObject({ status: 'pinned', address: core.id })
    expect(readFileSync(file(cache)).equals(old)).toBe(true)
    expect(readFileSync(versionFile(cache, core.id, buildHash(next))).equals(next)).toBe(true)

    await cli.json(['programs', 'pin', 'core', '--remove'], { env })
    expect((await cli.json(pull, { env })).items[0]).toMatchObject({ status: 'written' })
    expect(readFileSync(file(cache)).equals(next)).toBe(true)
    expect(readFileSync(versionFile(cache, core.id, buildHash(old))).equals(old)).toBe(true)
  })
})

describe('the builds that svc was tested with', () => {
  it('are named for every program that it builds on', () => {
    expect(Object.keys(TESTED_BUILDS)).toEqual(Object.values(PROGRAMS).map(({ id }) => id))
    for (const hash of Object.values(TESTED_BUILDS).flat()) expect(hash).toMatch(/^[0-9a-f]{64}$/)
  })
})
