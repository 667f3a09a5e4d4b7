// Sums up the test runs, and first runs the files with failed tests once more, alone.
//   node tools/checks/summary.mjs FOLDER
// FOLDER has vitest's report, its output and its exit status for each run. A test that waits for processes can be too
// late on a busy machine. If it passes alone, it is named as unsteady with its first failure. If more than four files
// failed, nothing is run again.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

const MOST_FILES_AGAIN = 4
const [folder] = process.argv.slice(2)
const RUNS = [
  { name: 'test', title: '', args: [], env: homeIn('home') },
  // One line says how many tests are skipped without programs.
  { name: 'bare', title: ' (no programs)', args: [], env: homeIn('bare') },
  { name: 'postgres', title: ' (PostgreSQL)', args: ['--config', 'vitest.postgres.config.ts'] },
  { name: 'soak', title: '', args: ['--config', 'vitest.soak.config.ts'] },
]

function homeIn(name) {
  return { HOME: join(folder, name), XDG_CACHE_HOME: '', SVC_PROGRAMS_DIR: '' }
}

const readReport = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined)
const isFailed = ({ status, message, assertionResults }) =>
  status === 'failed' || message !== '' || assertionResults.some((test) => test.status === 'failed')

const readText = (name) => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : '')
/** Failures that no report contains: an error outside of a test, and a process or a file that was left behind. */
const OUTSIDE = /Vitest caught \d+ unhandled error|the test run left behind/

const reports = RUNS.map((run) => ({ ...run, report: readReport(join(folder, `${run.name}.json`)) }))
const failedFiles = reports.flatMap(({ report, ...run }) =>
  (report?.testResults ?? []).filter(isFailed).map((file) => ({ run, file })),
)
const failedOutside = reports.filter(({ name, report }) => {
  const hasFailedFiles = failedFiles.some(({ run }) => run.name === name)
  const isUnexplained = readText(`${name}.status`).trim() !== '0' && !hasFailedFiles
  return report !== undefined && (isUnexplained || OUTSIDE.test(readText(`${name}.txt`)))
})
const again = failedFiles.length <= MOST_FILES_AGAIN ? failedFiles : []

/** Runs one file alone. Returns its result, or undefined if the run did not finish or left something behind. */
function runAgain({ run, file }, n) {
  const output = join(folder, `again-${n}.json`)
  const path = relative(process.cwd(), file.name)
  say(`run again, alone: ${path}${run.title}`)
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${output}`]
  const { status } = spawnSync('npx', ['vitest', 'run', ...run.args, path, ...reporters], {
    stdio: 'inherit',
    env: Object.fromEntries(Object.entries({ ...process.env, ...run.env }).filter(([, value]) => value !== '')),
  })
  const result = readReport(output)?.testResults.find(({ name }) => name === file.name)
  return result === undefined || isFailed(result) || status === 0 ? result : undefined
}

const second = new Map(again.map((failed, n) => [failed.file, runAgain(failed, n)]))
let [passed, failed, skipped] = [0, 0, 0]
const lines = []
for (const { name: run, report, title } of reports) {
  if (report === undefined) {
    failed++
    continue
  }
  for (const first of report.testResults) {
    const file = second.get(first) ?? first
    const name = `${relative(process.cwd(), file.name)}${title}`
    const failures = file.assertionResults.filter((test) => test.status === 'failed')
    for (const { fullName, failureMessages } of failures) {
      lines.push(`failed: ${name} > ${fullName}: ${firstLine(failureMessages?.[0])}`)
    }
    // A file that could not be loaded or whose hooks failed has no failed test.
    const isBroken = failures.length === 0 && isFailed(file)
    if (isBroken) lines.push(`failed: ${name}`)
    failed += failures.length + Number(isBroken)
    passed += file.assertionResults.filter((test) => test.status === 'passed').length
    // Of a file outside of its folder the soak runs only what `npm test` samples.
    if (run === 'soak' && !name.startsWith('test/soak/')) continue
    for (const test of file.assertionResults.filter((each) => !['failed', 'passed'].includes(each.status))) {
      skipped++
      if (run !== 'bare') say(`skipped: ${name} > ${test.fullName}`)
    }
    if (file === first || isFailed(file)) continue
    const causes = first.assertionResults.filter((test) => test.status === 'failed')
    if (causes.length === 0) lines.unshift(`unsteady: ${name}: ${firstLine(first.message)}`)
    for (const { fullName, failureMessages } of causes) {
      lines.unshift(`unsteady: ${name} > ${fullName}: ${firstLine(failureMessages?.[0])}`)
    }
  }
}
const inBare = reports.find(({ name }) => name === 'bare')?.report?.numPendingTests ?? 0
say(`skipped without programs: ${inBare} tests`)
for (const { name } of failedOutside) {
  failed++
  lines.push(`failed: the run "${name}" itself, see above`)
}
for (const line of lines) say(line)
say(`${passed} passed, ${failed} failed, ${skipped} skipped`)
// process.exit could cut output that a pipe has not taken yet.
process.exitCode = failed > 0 || passed === 0 ? 1 : 0

function say(line) {
  process.stdout.write(`${line}\n`)
}

function firstLine(text = '') {
  return text.split('\n')[0].slice(0, 300)
}
