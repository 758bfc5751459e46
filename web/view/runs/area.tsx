export default function Runs(_: { path: string[]; onCanvas(id: string): Promise<void> }): React.ReactNode {
  return null;
}
