/**
 * Returns a command that creates a plant, for the shells of a platform. A token of your own is read from `TOKEN`.
 *
 * On Windows it runs in cmd.exe and in PowerShell: it has no quotation mark, dollar or pipe inside its quoted part,
 * which the two read differently.
 */
export function command(platform: string, url: string, id: bigint, token: string | undefined): string {
  if (platform === 'win32') {
    const bearer = token ? `'Bearer ${token}'` : `('Bearer '+(Get-Item env:TOKEN).Value)`;
    const plant = `@{id=${id};name='Rosa canina';tag='shrub'}`;
    return `powershell -Command "Invoke-RestMethod ${url}/plants -Method Post -Headers @{Authorization=${bearer}} -ContentType application/json -Body (ConvertTo-Json ${plant})"`;
  }
  const authorization = token ? `'Authorization: Bearer ${token}'` : '"Authorization: Bearer $TOKEN"';
  return `curl -i ${url}/plants -H ${authorization} -H 'Content-Type: application/json' -d '{"id":${id},"name":"Rosa canina","tag":"shrub"}'`;
}
