import { Component } from "react";
import { reasonOf } from "./reason.tsx";

/** Guard shows the message when a view below it breaks, and tries again when `mark` changes. */
export class Guard extends Component<
  { mark: unknown; children: React.ReactNode },
  { broken?: unknown; mark?: unknown }
> {
  override state: { broken?: unknown; mark?: unknown } = {};

  static getDerivedStateFromError(broken: unknown): { broken: unknown } {
    return { broken: broken ?? "unknown" };
  }

  static getDerivedStateFromProps(props: { mark: unknown }, state: { mark?: unknown }): object | null {
    return props.mark === state.mark ? null : { mark: props.mark, broken: undefined };
  }

  override render(): React.ReactNode {
    if (this.state.broken === undefined) return this.props.children;
    return (
      <p className="fault" role="alert">
        {reasonOf(this.state.broken)}
      </p>
    );
  }
}
