/** The configuration that the Solana CLI leaves in a home. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Writes `.config/solana/cli/config.yml` below the home, as `solana config set` does; mainnet's URL unless given. */
export function configureSolanaCli(home: string, url = 'https://api.mainnet-beta.solana.com'): void {
  mkdirSync(join(home, '.config/solana/cli'), { recursive: true })
  const lines = ['---', `json_rpc_url: "${url}"`, 'websocket_url: ""', 'keypair_path: id.json']
  const labels = [
    'address_labels:',
    '  "11111111111111111111111111111111": System Program',
    'commitment: confirmed',
    '',
  ]
  writeFileSync(join(home, '.config/solana/cli/config.yml'), [...lines, ...labels].join('\n'))
}
