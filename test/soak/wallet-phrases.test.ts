/** Wallets of a recovery phrase by the command, each encrypted at full cost. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { seedIn } from '../../commands/machine/wallets/key-text.ts'
import { keyPairOf } from '../../src/solana/signatures.ts'
import { commandLine } from '../cli/command-line.ts'

const cli = commandLine()
const env = {
  XDG_CONFIG_HOME: join(cli.home, 'config'),
  SVC_WALLET_PASSPHRASE_FILE: cli.file('passphrase', 'correct horse battery\n', 0o600),
}

it('svc wallet import takes a phrase as Phantom shows it', async () => {
  const phrase = cli.file('phrase.txt', `${'Abandon  '.repeat(11)}about\n`, 0o600)
  const words = await cli.json(['wallet', 'import', 'words', phrase], { env })
  expect(words.address).toBe('HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk')
})

it('svc wallet new --phrase makes one and shows it', async () => {
  const { recovery_phrase, address: made } = await cli.json(['wallet', 'new', 'phrase', '--phrase'], { env })
  expect(recovery_phrase.split(' ')).toHaveLength(12)
  expect(keyPairOf(await seedIn(recovery_phrase, 0)).address).toBe(made)
})
