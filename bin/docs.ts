/** Writes docs/openapi.json and docs/configuration.md from the code; with --check, fails where a file has drifted. */
import { readFileSync, writeFileSync } from 'node:fs'
import { openApiDocument } from '../src/api/openapi.ts'
import { environmentName, PROJECT_FILE, SETTINGS, type Setting } from '../src/config.ts'

function configuration(): string {
  const rows = Object.entries(SETTINGS as Record<string, Setting>).map(
    ([name, { kind, default: value, about, secret }]) => {
      const fallback = value === undefined ? '' : `\`${Array.isArray(value) ? value.join(',') : String(value)}\``
      return `| \`${name}\` | \`${environmentName(name)}\` | ${kind} | ${fallback} | ${about}${secret ? ' (environment only)' : ''} |`
    },
  )
  return `# Configuration

A setting is looked up in this order: flag, environment, project file, profile, default. \`svc config list\` shows every value and where it came from.

- **Project file**: the nearest \`${PROJECT_FILE}\` at or above the working folder, a JSON object of settings. It never holds secrets.
- **Profiles**: \`svc config set NAME VALUE\` writes the current profile, \`$XDG_CONFIG_HOME/svc/profiles.json\`; \`--profile\` picks another.
- **Data folder**: \`$XDG_DATA_HOME/svc\` unless \`data-dir\` says otherwise.
- \`NODE_ENV=production\` makes every \`internal_error\` say only "Something went wrong"; the cause is in the log.

| Setting | Environment | Type | Default | Meaning |
|---|---|---|---|---|
${rows.join('\n')}
`
}

const files: Record<string, () => string> = {
  'docs/openapi.json': () => `${JSON.stringify(openApiDocument(), null, 2)}\n`,
  'docs/configuration.md': configuration,
}

for (const [file, make] of Object.entries(files)) {
  const wanted = make()
  if (!process.argv.includes('--check')) {
    writeFileSync(file, wanted)
  } else if (readFileSync(file, 'utf8') !== wanted) {
    process.stderr.write(`${file} does not match the code; run: npm run docs\n`)
    process.exitCode = 1
  }
}
