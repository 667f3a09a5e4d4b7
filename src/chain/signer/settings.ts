/** Reads the settings of a signer one by one. No error quotes the value of a setting. */
import { isThisMachine } from '../../platform/urls.ts'
import { type Config, ConfigError, howToSet, type SettingName } from '../../settings/config.ts'
import { parsePublicKey } from './ed25519.ts'

type TextSetting = Extract<SettingName, `signer.${string}`>

/** Returns a setting that the chosen provider requires. Throws ConfigError when it is missing. */
export function requiredSetting(config: Config, name: TextSetting): string {
  const { values } = config
  const value = values[name]
  if (value === undefined) {
    const problem = `${name} is missing: signer ${values.signer} needs it`
    throw new ConfigError(`${problem}; ${howToSet(config, name)}`, undefined, name)
  }
  return value
}

/** Returns a required setting for an HTTP header. Throws ConfigError when a header cannot hold it. */
export function requiredHeaderSetting(config: Config, name: TextSetting): string {
  const value = requiredSetting(config, name)
  if (!/^[\x21-\x7e]+$/.test(value)) {
    throw new ConfigError(
      `${name} holds a space, a line break or another character that tokens never have; ${howToSet(config, name)}`,
    )
  }
  return value
}

/** Returns a provider's URL without the last slash. Throws ConfigError unless it is https, or of this machine. */
export function requiredUrlSetting(config: Config, name: TextSetting): string {
  const url = new URL(requiredSetting(config, name))
  if (url.protocol !== 'https:' && !isThisMachine(url.hostname)) {
    throw new ConfigError(`${name} must be an https URL: over http, its token can be read on the way to ${url.host}`)
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new ConfigError(`${name} must be a plain URL, without user name, query or fragment`)
  }
  return url.href.replace(/\/+$/, '')
}

/**
 * Returns the address in `signer.public-key`, or undefined when it is not set. Throws ConfigError for an invalid
 * address.
 */
export function publicKeySetting({ values }: Config): string | undefined {
  const address = values['signer.public-key']
  if (address !== undefined && parsePublicKey(address) === undefined) {
    throw new ConfigError('signer.public-key is not a Solana address: it must be the base58 of 32 bytes')
  }
  return address
}
