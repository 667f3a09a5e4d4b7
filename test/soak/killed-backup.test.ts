/** A backup of a served chain that is killed between the request for the copy and its answer. */
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { commandLine, PROGRAM } from '../cli/command-line.ts'
import { type Served, serveHere } from '../cli/served.ts'
import { itOnSqliteAlone } from '../support/database.ts'
import { someone } from '../support/local-chain.ts'

const cli = commandLine()

describe('A daemon with a chain', () => {
  let daemon: Served
  beforeAll(async () => {
    await cli.svc(['localnet', 'status'])
    daemon = await serveHere(cli.dataDir)
    await cli.json(['localnet', 'airdrop', someone().toBase58(), '10'])
  })
  afterAll(() => daemon?.stop())

  itOnSqliteAlone(
    'is not affected by a killed backup of a served chain, which leaves no copy and does not delay the next one',
    'PostgreSQL has its own backups',
    async () => {
      const owner = join(cli.dataDir, 'localnet.json')
      const told = JSON.parse(readFileSync(owner, 'utf8'))
      // Between the backup and the chain, so that it is killed when the copy is made and before it has it.
      let killed: { kill(signal: 'SIGKILL'): unknown } | undefined
      const between = createServer(async (request, response) => {
        const headers = { 'content-type': 'application/json' }
        const answer = await fetch(told.rpc_url, { method: 'POST', headers, body: await text(request) })
        const copied = await answer.text()
        killed?.kill('SIGKILL')
        response.end(copied)
      }).listen(0, '127.0.0.1')
      await once(between, 'listening')
      const copies = () => readdirSync(cli.dataDir).filter((name) => name.startsWith('chain.copy-'))
      const args = ['db', 'backup', join(cli.home, 'chained'), '--include', 'chain', '--data-dir', cli.dataDir]
      try {
        const rpc_url = `http://127.0.0.1:${(between.address() as AddressInfo).port}`
        writeFileSync(owner, JSON.stringify({ ...told, rpc_url }))
        const child = execa(process.execPath, [PROGRAM, ...args], { cwd: cli.home, env: cli.env, reject: false })
        killed = child
        expect((await child).signal).toBe('SIGKILL')
        expect(copies()).toHaveLength(1)
      } finally {
        writeFileSync(owner, JSON.stringify(told))
        between.close()
      }
      const { exitCode, stderr } = await cli.svc(args.slice(0, 5))
      expect(exitCode, stderr).toBe(0)
      expect(copies()).toEqual([])
    },
  )
})
