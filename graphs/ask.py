"""The ask graph: a map of nodes and edges, in the order of a question's life."""

from typing import Any

from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from qkva.contracts.state import AskContext, AskInput, AskOutput, AskState
from qkva.graphs import routing
from qkva.graphs.binding import ServicesProvider, bind
from qkva.graphs.services import default_services
from qkva.nodes.ask.answer import answer
from qkva.nodes.ask.build_plan import build_plan
from qkva.nodes.ask.embed import embed
from qkva.nodes.ask.execute import execute
from qkva.nodes.ask.fall_back import fall_back
from qkva.nodes.ask.fill_params import fill_params
from qkva.nodes.ask.judge import judge
from qkva.nodes.ask.look_up import look_up
from qkva.nodes.ask.read_question import read_question
from qkva.nodes.ask.retrieve import retrieve
from qkva.nodes.ask.review_plan import review_plan
from qkva.nodes.ask.route import route
from qkva.nodes.ask.write_back import write_back

AskGraph = CompiledStateGraph[AskState, AskContext, Any, Any]
"""Called with a dict in the shape of AskInput; gives a dict in the shape of AskOutput."""

NODES = (
    read_question,
    embed,
    look_up,
    judge,
    route,
    build_plan,
    review_plan,
    fall_back,
    fill_params,
    execute,
    retrieve,
    answer,
    write_back,
)


def build_ask_graph(services: ServicesProvider = default_services, **compile_options: Any) -> AskGraph:
    """Compile the graph over a provider of services: a function without arguments that returns them or awaits them.

    `compile_options` go to LangGraph: `checkpointer=`, `store=`, `name=` …
    """
    graph = StateGraph(AskState, context_schema=AskContext, input_schema=AskInput, output_schema=AskOutput)
    for node in NODES:
        # answer waits for both ways of a hybrid question
        graph.add_node(node.__name__, bind(node, services), defer=node is answer)
    graph.add_edge(START, "read_question")
    graph.add_conditional_edges("read_question", routing.route_after_read_question)
    graph.add_conditional_edges("embed", routing.route_after_embed)
    graph.add_conditional_edges("look_up", routing.route_after_look_up)
    graph.add_conditional_edges("judge", routing.route_after_judge)
    graph.add_conditional_edges("route", routing.route_after_route, ["answer", "retrieve", "build_plan", "__end__"])
    graph.add_conditional_edges("build_plan", routing.route_after_build_plan)
    graph.add_conditional_edges("review_plan", routing.route_after_review_plan)
    graph.add_conditional_edges("fall_back", routing.route_after_fall_back)
    graph.add_conditional_edges("fill_params", routing.route_after_fill_params)
    graph.add_conditional_edges("execute", routing.route_after_execute)
    graph.add_edge("retrieve", "answer")
    graph.add_conditional_edges("answer", routing.route_after_answer)
    graph.add_edge("write_back", "__end__")
    return graph.compile(**{"name": "ask", **compile_options})


graph = build_ask_graph()
