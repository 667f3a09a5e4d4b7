#!/usr/bin/env node
// Asks the registry for known vulnerabilities of what ships, in dist/ or beside it; a registry that does not answer that is told, and fails nothing.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const asked = spawnSync('npm', ['audit', '--json'], {
  cwd: ROOT,
  encoding: 'utf8',
  timeout: 120_000,
  maxBuffer: 64 * 1024 * 1024,
})

const say = (text) => process.stdout.write(`${text}\n`)

function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

/** Whether a package is in dist/, or installed beside it; every package counts where dist/ was not built. */
function shippedPackages() {
  try {
    const text = readFileSync(join(ROOT, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8')
    const bundled = [...text.matchAll(/^(\S+)@\d\S* \(.*\)$/gm)].map(([, name]) => name)
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
    const beside = Object.entries(packages).filter(
      ([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional,
    )
    const names = new Set([...bundled, ...beside.map(([path]) => path.split('node_modules/').at(-1))])
    return (name) => names.has(name)
  } catch {
    return () => true
  }
}

const report = parsed(asked.stdout || '')
if (report.metadata?.vulnerabilities === undefined) {
  const why = report.error?.summary || report.message || (asked.error ? asked.error.message : 'it gave no report')
  say(`npm audit: not run, the registry does not answer it (${why.split('\n')[0]})`)
} else {
  const isShipped = shippedPackages()
  const found = Object.values(report.vulnerabilities).filter(({ name }) => isShipped(name))
  const count = (level) => found.filter(({ severity }) => severity === level).length
  const [info, low, moderate, high, critical] = ['info', 'low', 'moderate', 'high', 'critical'].map(count)
  say(`npm audit: ${critical} critical, ${high} high, ${moderate} moderate, ${low} low, ${info} for information`)
  for (const { name, severity, via } of found) {
    const titles = via.filter((cause) => typeof cause === 'object').map(({ title }) => title)
    if (titles.length > 0) say(`  ${severity} ${name}: ${titles.join('; ')}`)
  }
  process.exitCode = critical > 0 ? 1 : 0
}
