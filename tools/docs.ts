/** Writes the generated documents and error tables; with --check, fails where a file has drifted. */
import { readFileSync, writeFileSync } from 'node:fs'
import {
  environmentName,
  fileVariable,
  PROJECT_FILE,
  SETTINGS,
  type Setting,
  type SettingName,
} from '../src/settings/config.ts'
import { SECRET_FILE_BYTES } from '../src/settings/secret-files.ts'
import { errorTables } from './error-tables.ts'
import { instructionTables } from './instruction-tables.ts'
import { ROOM_PATHS, ROOMS, type Room, RULES, type Rule } from './rooms.ts'

const reloadable = (): string =>
  Object.entries(SETTINGS as Record<string, Setting>)
    .flatMap(([name, { reload }]) => (reload === true ? [`\`${name}\``] : []))
    .join(', ')

function configuration(): string {
  const rows = Object.entries(SETTINGS as Record<string, Setting>).map(
    ([name, { kind, default: value, about, secret, project, projectChoicesReason }]) => {
      const fallback = value === undefined ? '' : `\`${Array.isArray(value) ? value.join(',') : String(value)}\``
      const meaning = `${about}${secret ? ' (environment only)' : ''}`
      const inProject =
        project !== true ? `no: ${project}` : projectChoicesReason === undefined ? 'yes' : 'a word, no URL'
      const file = fileVariable(name as SettingName)
      const variables = `\`${environmentName(name)}\`${file === undefined ? '' : ` or \`${file}\``}`
      return `| \`${name}\` | ${variables} | ${kind} | ${fallback} | ${meaning} | ${inProject} |`
    },
  )
  return `# Configuration

A setting is looked up in this order: flag, environment (the variable, or the [file](#secrets-from-files) that it names), project file, profile, default. \`svc config list\` shows every value and where it came from.

- **Project file**: the nearest \`${PROJECT_FILE}\` from the working folder up to the edge of its repository (the folder with \`.git\`) or the home, whichever comes first; outside both, the working folder's alone. A JSON object of settings, of those that the last column below allows: anybody's clone may hold one. [More](#project-file).
- **Profiles**: \`svc config set NAME VALUE\` writes the current profile, \`$XDG_CONFIG_HOME/svc/profiles.json\`; \`--profile\` picks another.
- **Data folder**: \`$XDG_DATA_HOME/svc\` unless \`data-dir\` says otherwise. [What is refused](#files).
- A \`SVC_…\` variable that nothing reads is told on stderr where it is a typing mistake (\`SVC_APIKEY\`), and by \`svc doctor\` and \`svc serve\` in any case; with \`-o json\`, by \`svc doctor\` alone.
- \`NODE_ENV=production\` makes every \`internal_error\` say only "Something went wrong", or which setting is not set; the cause is in the log. \`svc serve\` then wants cluster and database named (\`SVC_URL\`, \`SVC_DATABASE_URL\`, each also as \`…_FILE\`; \`SVC_DATABASE_URL=sqlite\` is the file in the data folder), and refuses to start otherwise: a setting that was lost must not become the embedded chain or an empty database.

| Setting | Environment | Type | Default | Meaning | In \`${PROJECT_FILE}\` |
|---|---|---|---|---|---|
${rows.join('\n')}

An empty environment variable (\`SVC_X=\`, as Compose makes of \`\${X:-}\`) is no value: the setting is as without it, and an error about a secret or a file that is missing says that its variable is empty.

## Secrets from files

Every setting that is a secret, or a URL that may hold one, is also read from a file: \`SVC_DATABASE_URL_FILE=/run/secrets/database-url\` in place of \`SVC_DATABASE_URL\`. That is how systemd (\`LoadCredential=\`), Docker and Kubernetes hand out secrets; an environment variable with the value itself is seen by every child process and in crash reports.

- The path is absolute. It must lead to a regular file of at most ${SECRET_FILE_BYTES / 1024} KiB of UTF-8 text, read once at the start; one line break at its end is left out, and an empty file is refused.
- Links are followed and the file may be root's or another user's: the variable is the operator's own word, and secret volumes are links to files of root. A file that anybody can write is refused, and so is one of this user's own that others can read (\`chmod 600\`).
- \`SVC_X\` and \`SVC_X_FILE\` together are refused, and a \`SVC_X_FILE\` for a setting that is no secret as well. \`svc config list\` and \`svc doctor\` show the file, never the value.
- \`SVC_API_KEY_FILE\` follows the same rules; \`--api-key-file\` and a profile's \`api-key-file\` those of [key files](#files). \`signer.keypair\` is a path already and keeps the rules of key files: where a volume holds links, copy it to a file of this user's own first.

## Reloading

\`kill -HUP\` has a daemon without a terminal take up changes of: ${reloadable()}. All others need a restart. [More](operating.md#reloading).

## Project file

- It counts when file and folder belong to this user and others cannot write them; it is no link. A checkout of another user, as in some CI containers, is refused with the reason: \`--trust-project\` takes it for one command, for the same settings.
- An \`api\` that it sets gets no key and has nothing signed here, whatever it answers, until \`--api\` (or \`SVC_API\`) names it too.

## Files

- The data folder is this user's and nobody else can write it; every command that uses it refuses another. It is made 0700 and its files 0600; where others could read an existing folder or database, that is closed.
- \`daemon.json\`, \`localnet.json\`, the databases and every key file (\`operator.key\`, \`encryption.key\`, \`--api-key-file\`, \`signer.keypair\`, \`-k\`, \`--secret-file\`) are opened without following links, and refused where they belong to another user or lie in a folder that others can write. A key that others can read is refused. Files of your own in a folder like \`/tmp\` (with its sticky bit) are taken. \`daemon.json\` and \`localnet.json\` count only while a process holds the lock beside them: a folder that came with them, in a clone or an archive, leads nowhere.
- A database that holds data and not this installation's fingerprint is refused, and so is an empty one beside the keys of an earlier one (\`encryption.key\`, \`operator.key\`): restore what is missing, or remove those keys to begin anew.

## Cluster

\`-u\` / \`--url\` (setting \`url\`) says which chain is meant: \`embedded\`, \`mainnet-beta\` (\`m\`), \`devnet\` (\`d\`), \`testnet\` (\`t\`), \`localhost\` (\`l\`, http://127.0.0.1:8899) or an RPC URL. Where no svc setting names one, \`json_rpc_url\` of the Solana CLI (\`~/.config/solana/cli/config.yml\`) does; else it is the embedded chain. \`svc status\`, \`svc doctor\` and the start of \`svc serve\` say which one it came to.

- RPC URLs may hold keys: answers, logs, \`svc config\` and daemon.json show the host alone. Clients are told \`public-rpc-url\` where it is set.
- Several RPC endpoints of one cluster are \`rpc-urls\`: [nodes](nodes.md).
- A running daemon works on one cluster; a command with \`-u\` for another is refused.
- \`svc webhooks create\` and \`update\` keep \`--url\` for the receiver: the cluster is \`-u\` there.

## Embedded chain

A real Solana runtime whose accounts, history and clock live in the data folder (\`chain.db\`). It opens at its first use and belongs to one process: \`svc serve\` and \`svc localnet start\` serve it as JSON-RPC on \`rpc-host\` (loopback, whatever \`host\` is) and \`rpc-port\` and as WebSocket on the port after it, and say where in \`localnet.json\` (\`pid\`, \`rpc_url\`, \`ws_url\`; the daemon's also in \`daemon.json\`). Commands use the process that serves it, else open it themselves. When 8899 is taken and no \`rpc-port\` is set, or with \`--port 0\`, a free pair is used.

Programs come from the program cache (\`programs-dir\`): \`<program id>.so\` and \`accounts/<address>.json\`, filled by \`svc localnet pull\` from a cluster or a folder. \`manifest.json\` there holds the SHA-256, source, slot and loader of each. A chain takes what is in the cache when it opens.
`
}

const code = (room: Room) => `\`${room.endsWith('.ts') ? room : `${room}/`}\``

function allowed({ rooms, value, type = [], lazy = [] }: Rule): string {
  if (value.length === ROOM_PATHS.length) return 'everything'
  const others = value.filter((room) => rooms.length > 1 || room !== rooms[0])
  const names = (some: readonly Room[]) => some.map((room) => code(room).replace('`src/', '`')).join(', ')
  const kinds = [
    names(others),
    type.length === 0 ? '' : `types of ${names(type)}`,
    lazy.length === 0 ? '' : `${names(lazy)} by \`import()\``,
  ]
  return kinds.filter((kind) => kind !== '').join('; ') || 'nothing'
}

function roomTables(): string {
  const rooms = ROOM_PATHS.map((room) => `| ${code(room)} | ${ROOMS[room]} |`)
  const rules = RULES.map((rule) => `| ${rule.rooms.map(code).join(', ')} | ${allowed(rule)} |`)
  return `| Room | What it is |\n|---|---|\n${rooms.join('\n')}\n\n| Files of | may import |\n|---|---|\n${rules.join('\n')}`
}

const ARCHITECTURE = 'docs/architecture.md'
const [BEGIN, END] = ['<!-- rooms: written by npm run docs from tools/rooms.ts -->', '<!-- end of rooms -->']

/** The hand-written page with its table of rooms written anew. */
function architecture(): string {
  const page = readFileSync(ARCHITECTURE, 'utf8')
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (begin < 0 || end < begin) throw new Error(`${ARCHITECTURE} lacks the lines that enclose the table of rooms`)
  return `${page.slice(0, begin)}${BEGIN}\n\n${roomTables()}\n\n${page.slice(end)}`
}

const files: Record<string, string> = {
  'docs/configuration.md': configuration(),
  [ARCHITECTURE]: architecture(),
  ...(await errorTables()),
  ...(await instructionTables()),
}

for (const [file, current] of Object.entries(files)) {
  if (!process.argv.includes('--check')) {
    writeFileSync(file, current)
  } else if (readFileSync(file, 'utf8') !== current) {
    process.stderr.write(`${file} does not match the code; run: npm run docs\n`)
    process.exitCode = 1
  }
}
