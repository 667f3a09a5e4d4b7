/** The files that GitHub reads: workflows, forms and pages of the project, against the repository that they are about. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { ROOT } from '../tools/source.ts'
import { yamlFaults } from './support/yaml.ts'

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')
const filesOf = (folder: string) => readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`)
interface Manifest {
  version: string
  engines: { node: string }
  scripts: Record<string, string>
  repository: { url: string }
}
const manifest: Manifest = JSON.parse(read('package.json'))

interface Step {
  uses?: string
  run?: string
  env?: Record<string, string>
  'continue-on-error'?: boolean
}
interface Job {
  'runs-on': string
  'timeout-minutes'?: number
  permissions?: Record<string, string>
  strategy?: { matrix: Record<string, unknown[]> }
  steps: Step[]
}
interface Workflow {
  name: string
  on: Record<string, unknown>
  permissions: Record<string, string>
  jobs: Record<string, Job>
}

const WORKFLOWS = filesOf('.github/workflows')
const workflow = (name: string): Workflow => parse(read(`.github/workflows/${name}.yml`))
const jobsOf = (file: string) => Object.entries((parse(read(file)) as Workflow).jobs)
const stepsOf = (file: string) => jobsOf(file).flatMap(([, { steps }]) => steps)

describe('each workflow', () => {
  it.each(WORKFLOWS)('%s may only read unless a job says more, and ends', (file) => {
    expect(yamlFaults(read(file))).toEqual([])
    const { on, permissions } = parse(read(file)) as Workflow
    expect(permissions).toEqual({ contents: 'read' })
    expect(Object.keys(on)).not.toContain('pull_request_target')
    for (const [name, job] of jobsOf(file)) expect([name, job['timeout-minutes']]).toEqual([name, expect.any(Number)])
  })

  it('uses each action by one commit', () => {
    const lines = [...WORKFLOWS, 'examples/ci/airdrops.yml', 'examples/ci/github/action.yml'].flatMap((file) =>
      read(file)
        .split('\n')
        .filter((line) => line.includes('uses:')),
    )
    expect(lines.length).toBeGreaterThan(10)
    const pins = new Set<string>()
    for (const line of lines) {
      expect(line).toMatch(/uses: [\w-]+\/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
      pins.add(line.replace(/.*uses: ([\w-]+\/[\w-]+)[\w/-]*@/, '$1@'))
    }
    const actions = [...pins].map((pin) => pin.split('@')[0])
    expect(actions).toEqual([...new Set(actions)])
  })

  it.each(WORKFLOWS)('%s runs only scripts that exist, and puts no expression into one', (file) => {
    const scripts = stepsOf(file).flatMap(({ run }) => run ?? [])
    for (const script of scripts) {
      expect(script).not.toContain('${{')
      expect([script, spawnSync('bash', ['-n', '-c', script]).status]).toEqual([script, 0])
      for (const [, name = ''] of script.matchAll(/npm (?:run )?(?!ci\b|publish\b|view\b)([a-z:]+)/g))
        expect([name, name in manifest.scripts]).toEqual([name, true])
      for (const [path] of script.matchAll(/\b(?:tools|examples|docs)\/[\w./-]*[\w/]/g))
        expect([path, existsSync(join(ROOT, path))]).toEqual([path, true])
    }
  })
})

describe('CI', () => {
  it('tests the oldest version of Node.js that is supported and the newer ones, on Linux and macOS', () => {
    const { os, node } = workflow('ci').jobs.test!.strategy!.matrix
    expect(os!.map((name) => String(name).replace(/-.*/, ''))).toEqual(['ubuntu', 'macos'])
    expect(node).toEqual([Number.parseInt(manifest.engines.node.replace('>=', ''), 10), 22, 24])
  })

  it('runs the tests on the programs of the chain, and still runs without them', () => {
    const { verify, ...tests } = workflow('ci').jobs
    for (const [name, { steps }] of Object.entries(tests)) {
      const pull = steps.findIndex(({ run }) => run?.startsWith('node dist/svc.js localnet pull'))
      const first = steps.findIndex(({ run }) => /npm test|test:|nodes\.mjs/.test(run ?? ''))
      expect([name, pull > 0 && pull < first, steps[pull]?.['continue-on-error']]).toEqual([name, true, true])
    }
    expect(verify).toBeDefined()
  })
})

describe('the release', () => {
  const { jobs, on } = workflow('release')

  it('starts by a tag, tests before it publishes, and publishes the files that were tested', () => {
    expect(on).toEqual({ push: { tags: [expect.any(String)] } })
    const built = jobs.build!.steps.flatMap(({ run }) => run ?? [])
    expect(built.slice(-4)).toEqual([
      'npm ci',
      'npm run verify',
      expect.stringContaining('tools/checks/nodes.mjs'),
      'node tools/release.mjs release',
    ])
    const writes = Object.entries(jobs).map(([name, { permissions = {} }]) => [
      name,
      Object.keys(permissions).filter((permission) => permissions[permission] === 'write'),
    ])
    expect(Object.fromEntries(writes)).toEqual({
      build: [],
      packages: ['id-token'],
      image: ['packages'],
      files: ['contents', 'id-token', 'attestations'],
    })
  })

  it('has a page of notes for this version, which the changelog names', () => {
    const page = `docs/releases/${manifest.version}.md`
    expect(read(page)).toContain(`# svc ${manifest.version}\n`)
    expect(read('CHANGELOG.md')).toContain(`(${page})`)
    expect(read('CHANGELOG.md')).toMatch(/^## Unreleased\n[\s\S]*^## \d+\.\d+\.\d+ - \d{4}-\d{2}-\d{2}$/m)
  })
})

describe('a form', () => {
  const forms = filesOf('.github/ISSUE_TEMPLATE').filter((file) => !file.endsWith('/config.yml'))

  it.each(forms)('%s has what GitHub demands', (file) => {
    expect(yamlFaults(read(file))).toEqual([])
    const form = parse(read(file))
    expect(form).toMatchObject({ name: expect.any(String), description: expect.any(String) })
    const fields = form.body.filter(({ type }: { type: string }) => type !== 'markdown')
    for (const { type, attributes } of form.body) {
      expect(['markdown', 'textarea', 'input', 'dropdown', 'checkboxes']).toContain(type)
      expect(attributes).toMatchObject(
        type === 'markdown' ? { value: expect.any(String) } : { label: expect.any(String) },
      )
    }
    const ids = fields.map(({ id }: { id: string }) => id)
    expect(ids).toEqual([...new Set(ids)])
  })
})

it.each(['SECURITY.md', 'CODE_OF_CONDUCT.md', `docs/releases/${manifest.version}.md`])(
  '%s links to what exists',
  (file) => {
    const [, repository] = /github\.com\/([\w-]+\/[\w-]+)/.exec(manifest.repository.url)!
    for (const [, target = ''] of read(file).matchAll(/\]\(([^)]+)\)/g)) {
      if (/^https?:/.test(target)) expect(target).toContain(`https://github.com/${repository}/`)
      else expect([target, existsSync(join(ROOT, dirname(file), target.replace(/#.*/, '')))]).toEqual([target, true])
    }
  },
)
