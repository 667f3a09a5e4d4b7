/** The script of the reference page: search, colours, the language of the samples, and the reader's place. */
import { applyChoices, followSamples, offerThemes } from './choices.ts'
import { followPlace } from './place.ts'
import { offerSearch } from './search.ts'

applyChoices()
document.addEventListener('DOMContentLoaded', () => {
  const [search, results] = [document.getElementById('search'), document.getElementById('results')]
  if (search instanceof HTMLInputElement && results) offerSearch(search, results)
  const theme = document.getElementById('theme')
  if (theme instanceof HTMLButtonElement) offerThemes(theme)
  followSamples()
  const contents = document.getElementById('contents')
  if (contents) followPlace(contents)
})
