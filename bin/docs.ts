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

## Cluster

\`-u\` / \`--url\` (setting \`url\`) says which chain is meant: \`embedded\`, \`mainnet-beta\` (\`m\`), \`devnet\` (\`d\`), \`testnet\` (\`t\`), \`localhost\` (\`l\`, http://127.0.0.1:8899) or an RPC URL. Where no svc setting names one, \`json_rpc_url\` of the Solana CLI (\`~/.config/solana/cli/config.yml\`) does; else it is the embedded chain. \`svc status\`, \`svc doctor\` and the start of \`svc serve\` say which one it came to.

- RPC URLs may hold keys: answers, logs, \`svc config\` and daemon.json show the host alone. Clients are told \`public-rpc-url\` where it is set.
- A running daemon works on one cluster; a command with \`-u\` for another is refused.
- \`svc webhooks subscribe\` and \`update\` keep \`--url\` for the receiver: the cluster is \`-u\` there.

## Embedded chain

A real Solana runtime whose accounts, history and clock live in the data folder (\`chain.db\`). It opens at its first use and belongs to one process: \`svc serve\` and \`svc localnet start\` serve it as JSON-RPC on \`rpc-port\` and as WebSocket on the port after it, and say where in \`localnet.json\` (\`pid\`, \`rpc_url\`, \`ws_url\`; the daemon's also in \`daemon.json\`). Commands use the process that serves it, else open it themselves. When 8899 is taken and no \`rpc-port\` is set, or with \`--port 0\`, a free pair is used.

Programs come from the program cache (\`programs-dir\`): \`<program id>.so\` and \`accounts/<address>.json\`, filled by \`svc localnet pull\` from a cluster or a folder. \`manifest.json\` there holds the SHA-256, source, slot and loader of each. A chain takes what is in the cache when it opens.
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
