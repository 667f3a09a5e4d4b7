/** Runs every command that the README and docs/ show. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { afterAll, describe, expect, it } from 'vitest'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { png } from '../storage/images.ts'
import { lacksCore } from '../support/assets.ts'
import { lacksDbc } from '../support/dbc.ts'
import { lacksLock } from '../support/gold.ts'
import { freePort } from '../support/ports.ts'
import { hasProgram, PROGRAMS_DIR } from '../support/programs.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'
import { configureSolanaCli } from '../support/solana-cli.ts'

const lacksAirdrop = [PROGRAMS.distributor, PROGRAMS.tokenMetadata].some(({ id }) => !hasProgram(id))
const ROOT = resolve(import.meta.dirname, '../..')
const home = makeSharedFolder('svc-readme-')
const env = {
  HOME: home,
  XDG_CONFIG_HOME: join(home, 'config'),
  XDG_DATA_HOME: join(home, 'data'),
  SVC_LOG_LEVEL: 'warn',
  SVC_PROGRAMS_DIR: PROGRAMS_DIR,
}
mkdirSync(join(home, 'bin'))
writeFileSync(join(home, 'bin/svc'), `#!/bin/sh\nexec node ${join(ROOT, 'dist/svc.js')} "$@"\n`, { mode: 0o755 })

afterAll(() => rmSync(home, { recursive: true, force: true }))

/** The shell blocks below a heading. */
function blocksOf(file: string, heading: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const from = text.indexOf(`\n## ${heading}\n`)
  expect(from, `${file} has a section ${heading}`).toBeGreaterThan(-1)
  const to = text.indexOf('\n## ', from + 4)
  return [...text.slice(from, to < 0 ? undefined : to).matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block!)
}

/** Runs a block as a user would paste it; a daemon that it starts is stopped at its end. */
async function paste(block: string) {
  const port = await freePort()
  const waiting = `until curl -sf localhost:${port}/ready >/dev/null; do sleep 0.1; done`
  const script = block
    .replaceAll('localhost:8787', `localhost:${port}`)
    .replace(/^(svc serve) &$/m, `$1 --port ${port} >/dev/null 2>&1 & daemon=$!\n${waiting}`)
  return execa('bash', ['-euc', `trap 'kill $daemon 2>/dev/null || true; wait' EXIT; daemon=\n${script}`], {
    cwd: ROOT,
    env: { ...env, PATH: `${join(home, 'bin')}:${process.env.PATH}` },
    reject: false,
    timeout: 110_000,
  })
}

describe('the README', () => {
  it('starts with two commands that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>
    }
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
    expect(readme).toContain('npm ci && npm run demo')
    expect(readme).toMatch(/^npm test +# all checks; [a-z]+ minutes on two cores$/m)
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['demo', 'test', 'prepare']))
  })

  it.skipIf(lacksDbc).each(['is empty', 'has a Solana CLI that uses mainnet'])(
    'launches a token with three commands in a home that %s',
    async (state) => {
      const [alias, commands] = blocksOf('README.md', 'A first launch')
      const [pull, ...others] = commands!.trim().split('\n')
      expect(alias).toMatch(/^alias svc="node \$PWD\/dist\/svc.js"\nexport SVC_URL=embedded .*\n$/)
      expect([pull, others.length]).toEqual(['svc localnet pull', 2])
      const newcomer = mkdtempSync(join(home, 'newcomer-'))
      if (state !== 'is empty') configureSolanaCli(newcomer)
      // The programs come from the cache of the tests, and the wallet is below the folder of this run.
      const script = ['shopt -s expand_aliases', alias, `${pull} --from ${PROGRAMS_DIR}`, ...others].join('\n')
      const { exitCode, stdout, stderr } = await execa(
        'bash',
        ['-euc', script.replaceAll('wallet.json', join(newcomer, 'wallet.json'))],
        { cwd: ROOT, env: { HOME: newcomer, PATH: process.env.PATH }, extendEnv: false, reject: false },
      )
      expect(exitCode, stderr).toBe(0)
      expect(stdout).toMatch(/STATUS +live\n[\s\S]*NAME +My Token/)
    },
  )

  it.each(blocksOf('docs/first-steps.md', 'A list and the API').map((block) => [block]))(
    'shows first steps that work: %s',
    async (block) => {
      const { exitCode, stdout, stderr } = await paste(block)
      expect(exitCode, stderr).toBe(0)
      expect(stdout).toMatch(/[0-9a-f]{64}|"healthy"/)
    },
  )

  it.each(
    ['Back up SQLite', 'Restore', 'What grows']
      .flatMap((heading) => blocksOf('docs/backup.md', heading))
      .map((block) => [block]),
  )('shows a backup and its restore: %s', async (block) => {
    const given = block
      .replaceAll(/(?:~\/)?(backup-(?:monday|sealed|passphrase))/g, `${home}/$1`)
      .replaceAll('--data-dir restored', `--data-dir ${join(home, 'restored')}`)
    const { exitCode, stdout, stderr } = await paste(given)
    expect(exitCode, stderr).toBe(0)
    expect(stdout).toMatch(/"files": |^Restored into |^api_keys +\d|entries, all intact/m)
  })

  it.each(blocksOf('docs/first-steps.md', 'Without a cluster').map((block) => [block]))(
    'shows the embedded chain: %s',
    async (block) => {
      const { exitCode, stdout, stderr } = await paste(block)
      expect(exitCode, stderr).toBe(0)
      expect(stdout).toContain('has 10 SOL')
      expect(stdout).toMatch(/SLOT +\d+/)
    },
  )

  it.each(blocksOf('docs/first-steps.md', 'A token').map((block) => [block]))('shows a token: %s', async (block) => {
    const wallet = join(home, 'wallet.json')
    const { exitCode, stdout, stderr } = await paste(block.replaceAll('wallet.json', wallet))
    expect(exitCode, stderr).toBe(0)
    expect(stdout).toContain('has 10 SOL')
    expect(stdout).toMatch(/freeze_authority_revoked/)
    expect(stdout).toContain('token.created')
  })

  it.each(blocksOf('docs/transactions.md', 'On the command line').map((block) => [block]))(
    'shows the commands of docs/transactions.md, which work: %s',
    async (block) => {
      const wallet = join(home, 'other.json')
      const given = block.replace('token2022', `token2022 -k ${wallet} --json | tee ${wallet}.out`)
      const signature = `$(node -p 'JSON.parse(require("fs").readFileSync("${wallet}.out")).signature')`
      const { exitCode, stdout, stderr } = await paste(
        `svc localnet wallet ${wallet}\n${given.replace('<signature>', signature)}`,
      )
      expect(exitCode, stderr).toBe(0)
      expect(stdout).toMatch(/confirmed|finalized/)
    },
  )

  it.each(blocksOf('docs/signer.md', 'Setting one up').map((block) => [block]))(
    'shows how a platform wallet is set up: %s',
    async (block) => {
      const wallet = join(home, 'platform.json')
      const given = block.replace('"$PWD/platform.json"', wallet).replace('wallet platform.json', `wallet ${wallet}`)
      const { exitCode, stdout, stderr } = await paste(given)
      expect(exitCode, stderr).toBe(0)
      expect(stdout).toMatch(/0\.5 SOL, of which at most .* are fee/)
      expect(stdout).toContain('; submitted ')
      // With the keys that the first steps made: the local operator's, and the one for a backend.
      expect(stdout).toMatch(/6 entries, all intact/)
    },
  )

  it.skipIf(lacksDbc).each(blocksOf('docs/pools.md', 'On the command line').map((block) => [block]))(
    'shows a launch: %s',
    async (block) => {
      const [wallet, logo] = [join(home, 'creator.json'), join(home, 'logo.png')]
      writeFileSync(logo, png())
      const found = `$(svc pools list --json | node -p 'JSON.parse(require("fs").readFileSync(0)).find((pool) => pool.symbol === "MYL").address')`
      const picture = join(home, 'curve.svg')
      const files = block.replaceAll('creator.json', wallet).replaceAll('logo.png', logo).replace('curve.svg', picture)
      const given = files.replaceAll('<pool>', found)
      const { exitCode, stdout, stderr } = await paste(given)
      expect(exitCode, stderr).toBe(0)
      expect(stdout).toContain('My Launch')
      // The line of the claim in the history of fees: its kind and who claimed.
      expect(stdout).toMatch(/dbc +partner/)
      expect(readFileSync(picture, 'utf8')).toContain('</svg>')
    },
  )

  it.each(blocksOf('docs/fee-schedules.md', 'On the command line').map((block) => [block]))(
    'shows a fee schedule: %s',
    async (block) => {
      const found = `$(svc fees schedule list --json | node -p 'JSON.parse(require("fs").readFileSync(0))[0].id')`
      const { exitCode, stdout, stderr } = await paste(block.replaceAll('<id>', found))
      expect(exitCode, stderr).toBe(0)
      expect(stdout).toContain('0 6 * * *')
      expect(stdout).toContain('stopped: schedule_paused')
    },
  )

  it.skipIf(lacksDbc).each(blocksOf('docs/fees.md', 'On the command line').map((block) => [block]))(
    'shows claims of a creator: %s',
    async (block) => {
      const [wallet, logo, presets] = ['sharer.json', 'shared.png', 'presets.json'].map((name) => join(home, name))
      writeFileSync(logo!, png())
      const [, preset] = /```json\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'docs/fees.md'), 'utf8'))!
      writeFileSync(presets!, preset!)
      const found = `$(svc pools list --json | node -p 'JSON.parse(require("fs").readFileSync(0)).find((pool) => pool.symbol === "SHR").address')`
      const given = block
        .replaceAll('creator.json', wallet!)
        .replaceAll('logo.png', logo!)
        .replaceAll('"$PWD/presets.json"', presets!)
        .replaceAll('<pool>', found)
      const { exitCode, stdout, stderr } = await paste(given)
      expect(exitCode, stderr).toBe(0)
      expect(stdout).toMatch(/KIND +migration_fee/)
    },
  )

  it.skipIf(lacksCore).each(blocksOf('docs/nfts.md', 'On the command line').map((block) => [block]))(
    'shows the life of an NFT: %s',
    async (block) => {
      const wallet = join(home, 'artist.json')
      const read = (from: string, field: string) =>
        `$(${from} | node -p 'const read = JSON.parse(require("fs").readFileSync(0)); ${field}')`
      const given = block
        .replaceAll('artist.json', wallet)
        .replace(/^(svc collections create .*)$/m, `$1 --json | tee ${wallet}.out`)
        .replaceAll('<collection>', read(`cat ${wallet}.out`, 'read.collection'))
        .replaceAll('<asset>', read('svc nfts list --json', 'read[0].asset'))
      const { exitCode, stdout, stderr } = await paste(given)
      expect(exitCode, stderr).toBe(0)
      expect(stdout).toMatch(/STATUS +staked[\s\S]*PLATFORM ID +acme[\s\S]*STATUS +unstaked[\s\S]*STATUS +burned/)
    },
  )

  it.skipIf(lacksAirdrop).each(blocksOf('docs/airdrops.md', 'On the command line').map((block) => [block]))(
    'shows an airdrop: %s',
    async (block) => {
      const first = (of: string, field: string) =>
        `$(svc ${of} list --json | node -p 'JSON.parse(require("fs").readFileSync(0))[0].${field}')`
      const [wallet] = readFileSync(join(ROOT, 'examples/recipients.csv'), 'utf8').split('\n')[1]!.split(',')
      const given = block
        .replaceAll('treasury.json', join(home, 'treasury.json'))
        .replace('public/airdrop', join(home, 'public/airdrop'))
        .replace('<mint>', first('tokens', 'mint'))
        .replaceAll('<id>', first('airdrops', 'id'))
        .replace('<wallet>', wallet!)
      const { exitCode, stdout, stderr } = await paste(given)
      expect(exitCode, stderr).toBe(0)
      expect(stdout).toMatch(/STATUS +initialized/)
      expect(stdout).toMatch(/^Yes: examples\/recipients\.csv with 1200 rows has the root/m)
      await finds(wallet!)
    },
  )

  it.skipIf(lacksAirdrop).each(blocksOf('docs/snapshots.md', 'On the command line').map((block) => [block]))(
    'shows a list from holders: %s',
    async (block) => {
      const mint = `$(svc tokens list --json | node -p 'JSON.parse(require("fs").readFileSync(0))[0].mint')`
      const given = block
        .replaceAll('holder.json', join(home, 'holder.json'))
        .replaceAll('recipients.csv', join(home, 'recipients.csv'))
        .replaceAll('<mint>', mint)
      const { exitCode, stdout, stderr } = await paste(given)
      expect(exitCode, stderr).toBe(0)
      expect(stdout).toMatch(/RECIPIENTS +1 wallet, 1,000 tokens\n/)
      expect(readFileSync(join(home, 'recipients.csv'), 'utf8')).toMatch(/^wallet,amount\n\w+,1000000000\n$/)
    },
  )

  /** The snippet of the claim page, against the exported files. */
  async function finds(wallet: string): Promise<void> {
    const [, snippet] = /```js\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'docs/airdrops.md'), 'utf8'))!
    const read = async (path: string) => {
      try {
        const text = readFileSync(path, 'utf8')
        return { ok: true, json: async () => JSON.parse(text) }
      } catch {
        return { ok: false, json: async () => null }
      }
    }
    const entitlement = new Function('fetch', `${snippet}\nreturn entitlement`)(read)
    const found = await entitlement(join(home, 'public/airdrop'), wallet)
    expect(found).toEqual({ amount: expect.stringMatching(/^\d+$/), amount_locked: '0', proof: expect.any(Array) })
    expect(await entitlement(join(home, 'public/airdrop'), 'So11111111111111111111111111111111111111112')).toBeNull()
  }

  it.skipIf(lacksLock !== '').each(blocksOf('docs/gold-locks.md', 'On the command line').map((block) => [block]))(
    'shows a gold lock: %s',
    async (block) => {
      const first = (of: string, field: string) =>
        `$(svc ${of} list --json | node -p 'JSON.parse(require("fs").readFileSync(0))[0].${field}')`
      const given = block
        .replaceAll('holder.json', join(home, 'holder.json'))
        .replace('<mint>', first('tokens', 'mint'))
        .replace('<wallet>', first('gold', 'user'))
      const { exitCode, stdout, stderr } = await paste(given)
      expect(exitCode, stderr).toBe(0)
      expect(stderr).toMatch(/Locked for another (29 days 23 hours|30 days)/)
      expect(stdout).toMatch(/ {2}100 +unlocked /)
      expect(stdout).not.toContain('100000000')
    },
  )

  it.skipIf(lacksLock !== '').each(blocksOf('docs/locks.md', 'On the command line').map((block) => [block]))(
    'shows a lock: %s',
    async (block) => {
      const mint = `$(svc tokens list --json | node -p 'JSON.parse(require("fs").readFileSync(0))[0].mint')`
      const given = block
        .replaceAll('issuer.json', join(home, 'issuer.json'))
        .replaceAll('member.json', join(home, 'member.json'))
        .replaceAll('<mint>', mint)
        .replaceAll('<wallet>', `$(svc wallet address ${join(home, 'member.json')})`)
      const { exitCode, stdout, stderr } = await paste(given)
      expect(exitCode, stderr).toBe(0)
      expect(stdout).toContain('Unlocked of 48,000')
      expect(stdout).toMatch(/ {2}13,?000 +claimed /)
    },
  )

  it.each(blocksOf('docs/ledger.md', 'On the command line').map((block) => [block]))(
    'shows the ledger: %s',
    async (block) => {
      const { exitCode, stdout, stderr } = await paste(block.replace('november.csv', join(home, 'november.csv')))
      expect(exitCode, stderr).toBe(0)
      expect(stdout).toContain('key,party,token,received,paid,net,entries')
      expect(stdout).toMatch(/Compared [1-9]\d* transactions with \d+ entries: all equal/)
      expect(readFileSync(join(home, 'november.csv'), 'utf8')).toMatch(/^date,signature,account,/)
    },
  )
})
