/** Writes the generated documents and error tables; with --check, fails if a file does not match the code. */
import { readFileSync, writeFileSync } from 'node:fs'
import { api } from '../src/api/index.ts'
import { COLUMN_NAMES } from '../src/merkle/column-names.ts'
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
import { firstLaunchPicture } from './recorded-terminal.ts'
import { errorsPage, eventsPage } from './reference-pages.ts'
import { ROOM_PATHS, ROOMS, type Room, RULES, type Rule } from './rooms.ts'
import { routePaths } from './route-paths.ts'

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
        project !== true ? `no: ${project}` : projectChoicesReason === undefined ? 'yes' : 'a name, not a URL'
      const file = fileVariable(name as SettingName)
      const variables = `\`${environmentName(name)}\`${file === undefined ? '' : ` or \`${file}\``}`
      return `| \`${name}\` | ${variables} | ${kind} | ${fallback} | ${meaning} | ${inProject} |`
    },
  )
  return `# Configuration

A setting is looked up in this order: flag, environment (the variable, or the [file](#secrets-from-files) that it names), project file, profile, default. \`svc config list\` shows every value and where it came from.

- **Project file**: the nearest \`${PROJECT_FILE}\`, searched from the working folder up to the top of its repository (the folder with \`.git\`) or the home folder, whichever comes first. Outside both, only the working folder is searched. It is a JSON object of settings. Any clone may contain one, so only the settings that the last column allows may be in it. [More](#project-file).
- **Profiles**: \`svc config set NAME VALUE\` writes the current profile, \`$XDG_CONFIG_HOME/svc/profiles.json\`; \`--profile\` picks another.
- **Data folder**: \`$XDG_DATA_HOME/svc\` unless \`data-dir\` says otherwise. [What is refused](#files).
- svc warns on stderr about a \`SVC_…\` variable with a typing mistake (\`SVC_APIKEY\`). \`svc doctor\` and \`svc serve\` report every \`SVC_…\` variable that nothing reads. With \`-o json\`, only \`svc doctor\` does.
- \`NODE_ENV=production\` makes every \`internal_error\` say only "Something went wrong"; the cause, and the name of a missing setting, are in the log. \`svc serve\` then starts only if cluster and database are set (\`SVC_URL\`, \`SVC_DATABASE_URL\`, each also as \`…_FILE\`; \`SVC_DATABASE_URL=sqlite\` is the file in the data folder). Otherwise a lost setting would give you the embedded chain or an empty database.

| Setting | Environment | Type | Default | Meaning | In \`${PROJECT_FILE}\` |
|---|---|---|---|---|---|
${rows.join('\n')}

An empty environment variable (\`SVC_X=\`, as Compose makes of \`\${X:-}\`) counts as not set. An error about a missing secret or file says that its variable is empty.

## Secrets from files

Every setting that is a secret, or a URL that may hold one, is also read from a file: \`SVC_DATABASE_URL_FILE=/run/secrets/database-url\` in place of \`SVC_DATABASE_URL\`. systemd (\`LoadCredential=\`), Docker and Kubernetes provide secrets in this way. An environment variable with the value itself is visible to every child process and in crash reports.

- The path is absolute. It must lead to a regular file of at most ${SECRET_FILE_BYTES / 1024} KiB of UTF-8 text, read once at the start; one line break at its end is removed, and an empty file is refused.
- Links are followed, and the file may belong to root or another user: the operator set the variable, and secret volumes are links to files of root. A file that anybody can write is refused. So is a file of this user that others can read (\`chmod 600\`).
- \`SVC_X\` and \`SVC_X_FILE\` together are refused, and so is a \`SVC_X_FILE\` for a setting that is not a secret. \`svc config list\` and \`svc doctor\` show the file, never the value.
- \`SVC_API_KEY_FILE\` follows the same rules; \`--api-key-file\` and \`api-key-file\` in a profile follow those of [key files](#files). \`signer.keypair\` is a path already and follows the rules of key files: if a volume contains links, copy it to a file of this user first.

## Reloading

\`svc config reload\` makes the running daemon take up these settings: ${reloadable()}. All others need a restart; the command names them. [More](operating.md#reloading).

## Project file

- It is used only if file and folder belong to this user, others cannot write them, and the file is not a link. A checkout of another user, as in some CI containers, is refused with the reason; \`--trust-project\` accepts it for one command, for the same settings.
- If it sets \`api\`, svc sends that API no key and signs nothing that it answers, until \`--api\` (or \`SVC_API\`) names it too.

## Files

- The data folder must belong to this user, and nobody else may write it; otherwise commands refuse it. It is created with mode 0700 and its files with 0600. If others can read an existing folder or database, svc takes that permission away.
- \`daemon.json\`, \`localnet.json\`, the databases and every key file (\`operator.key\`, \`encryption.key\`, \`--api-key-file\`, \`signer.keypair\`, \`-k\`, \`--secret-file\`) are opened without following links. They are refused if they belong to another user or are in a folder that others can write. A key that others can read is refused. Your own files in a folder like \`/tmp\` (with its sticky bit) are accepted. \`daemon.json\` and \`localnet.json\` count only while a process holds the lock beside them, so copies of them from a clone or an archive have no effect.
- A database with data and without this installation's fingerprint is refused. So is an empty database beside the keys of an earlier one (\`encryption.key\`, \`operator.key\`): restore what is missing, or remove those keys to start again.

## Cluster

\`-u\` / \`--url\` (setting \`url\`) chooses the chain: \`embedded\`, \`mainnet-beta\` (\`m\`), \`devnet\` (\`d\`), \`testnet\` (\`t\`), \`localhost\` (\`l\`, http://127.0.0.1:8899) or an RPC URL. If no svc setting names one, svc uses \`json_rpc_url\` of the Solana CLI (\`~/.config/solana/cli/config.yml\`), otherwise the embedded chain. \`svc status\`, \`svc doctor\` and the start of \`svc serve\` show which one is used.

- The Solana CLI's cluster is a default, and nobody chose it for svc. \`--yes\` therefore confirms nothing on it, unless it is devnet, testnet or localhost: a command without a question needs \`-u\`, \`SVC_URL\` or a setting. A question names where the cluster comes from, and so does the error of a node that cannot be reached. A running daemon's cluster is what its own start chose.
- RPC URLs may contain keys: answers, logs, \`svc config\` and daemon.json show only the host. Clients see \`public-rpc-url\` if it is set.
- \`rpc-urls\` takes several RPC endpoints of one cluster: [nodes](nodes.md).
- A running daemon works on one cluster; a command with \`-u\` for another is refused.
- \`svc webhooks create\` and \`update\` use \`--url\` for the receiver; use \`-u\` for the cluster there.

## Embedded chain

A real Solana runtime whose accounts, history and clock are stored in the data folder (\`chain.db\`). It opens at its first use and belongs to one process. \`svc serve\` and \`svc localnet start\` serve it as JSON-RPC on \`rpc-host\` (loopback, whatever \`host\` is) and \`rpc-port\`, and as WebSocket on the next port. They write the addresses to \`localnet.json\` (\`pid\`, \`rpc_url\`, \`ws_url\`), the daemon also to \`daemon.json\`. Commands use the process that serves it, or open it themselves. If 8899 is taken and no \`rpc-port\` is set, or with \`--port 0\`, a free pair of ports is used.

Programs come from the program cache (\`programs-dir\`): \`<program id>.so\` and \`accounts/<address>.json\`, filled by \`svc localnet pull\` from a cluster or a folder. \`manifest.json\` there has the SHA-256, source, slot and loader of each. A chain loads the programs of the cache when it opens.
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

/** The hand-written page with what is between two of its lines replaced. */
function withTable(file: string, [first, last]: readonly [string, string], table: string): string {
  const page = readFileSync(file, 'utf8')
  const [begin, end] = [page.indexOf(first), page.indexOf(last)]
  if (begin < 0 || end < begin) throw new Error(`${file} lacks the lines that enclose its table`)
  return `${page.slice(0, begin)}${first}\n\n${table}\n\n${page.slice(end)}`
}

const LISTS = 'docs/lists.md'
const COLUMNS = [
  '<!-- columns: written by npm run docs from src/merkle/column-names.ts -->',
  '<!-- end of columns -->',
] as const

function columnTable(): string {
  const cell = (names: readonly string[] = []) => names.map((name) => `\`${name}\``).join(', ')
  const rows = Object.values(COLUMN_NAMES).map(
    ({ weight, says, names, words }) => `| ${says} | ${weight} | ${cell(names)} | ${cell(words)} |`,
  )
  return `| It says | If it is not read | Names | Words |\n|---|---|---|---|\n${rows.join('\n')}`
}

const files: Record<string, string> = {
  'src/api/paths.ts': routePaths(api),
  'docs/configuration.md': configuration(),
  'docs/events.md': eventsPage(),
  'docs/errors.md': errorsPage(),
  [ARCHITECTURE]: withTable(ARCHITECTURE, [BEGIN, END], roomTables()),
  [LISTS]: withTable(LISTS, COLUMNS, columnTable()),
  'docs/pictures/first-launch.svg': firstLaunchPicture(readFileSync('docs/first-launch.md', 'utf8')),
  ...(await errorTables()),
}

for (const [file, current] of Object.entries(files)) {
  if (!process.argv.includes('--check')) {
    writeFileSync(file, current)
  } else if (readFileSync(file, 'utf8') !== current) {
    process.stderr.write(`${file} does not match the code; run: npm run docs\n`)
    process.exitCode = 1
  }
}
